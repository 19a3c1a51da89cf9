"""How everything looks: tokens, style sheet, type, shapes."""
