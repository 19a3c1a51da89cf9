"""The procedures on real servers, from the command line: start to proof, undo, refusals, faults and kills."""
