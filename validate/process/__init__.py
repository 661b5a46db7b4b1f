"""Child processes: started, fed, confined and replaced."""
