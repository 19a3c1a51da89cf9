"""Where things stand in a drawing, pure and without Qt: shared by the window, the drawings beside a run, reports."""
