"""The full-screen program. Only this package imports textual; it knows search results and sessions,
never a file format.
"""
