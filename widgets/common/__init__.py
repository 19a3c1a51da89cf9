"""What several features share: messages, theme, small controls."""
