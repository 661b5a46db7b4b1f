"""The same tasks and verdicts in the forms of other trainers, each in a module that loads its
package. `trl` and `verl` need none: what they call are plain functions and classes."""
