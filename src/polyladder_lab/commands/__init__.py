"""The laboratory's commands, which `polyladder` lists beside its own. Nothing heavy is imported before one needs it."""
