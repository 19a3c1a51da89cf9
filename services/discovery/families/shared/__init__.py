"""What several families have in common: channels of asynchronous replication, cards, groups of hosts."""
