"""Commands that stand apart from `cli`, each in a file with `add_commands`."""
