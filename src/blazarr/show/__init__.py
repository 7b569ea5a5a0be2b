"""What people see of long calls."""
