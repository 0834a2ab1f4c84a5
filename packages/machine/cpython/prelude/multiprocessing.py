"""Stands for a package that cannot work here."""
raise ImportError(
    "this machine has no other processes: use concurrent.futures.ProcessPoolExecutor, which runs its tasks in turn",
    name="multiprocessing",
)
