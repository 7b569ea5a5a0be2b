"""Running selections: the engine of one array, its configuration and its plans."""
