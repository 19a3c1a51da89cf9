"""How large the objects of a backup streamed with xbcloud should be: arithmetic, advice, a look at the job's command.

Pure but for what is handed in: nothing here opens a session, runs a command or writes a file.
"""
