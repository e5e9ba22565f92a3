"""The Draft Law, measured: closed forms, position classes, engine rounds and their replay."""
