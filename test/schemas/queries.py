"""Runs queries on tables that hold what trace_processor would show of a trace: JSON in, JSON out. SQLite underneath, as there."""

import json
import sqlite3
import sys

asked = json.load(sys.stdin)
database = sqlite3.connect(":memory:")

for name, table in asked["tables"].items():
    columns = table["columns"]
    database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
    database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", table["rows"])

for name, select in asked["views"].items():
    database.execute(f"CREATE VIEW {name} AS {select}")

args = {}
for arg_set, key, integer, text in database.execute("SELECT arg_set_id, key, int_value, string_value FROM args"):
    args[arg_set, key] = text if integer is None else integer

database.create_function("EXTRACT_ARG", 2, lambda arg_set, key: args.get((arg_set, key)), deterministic=True)
end = database.execute("SELECT MAX(ts + MAX(dur, 0)) FROM (SELECT ts, dur FROM slice UNION ALL SELECT ts, 0 FROM counter)")
trace_end = end.fetchone()[0]
database.create_function("trace_end", 0, lambda: trace_end)
database.row_factory = sqlite3.Row

json.dump([[dict(row) for row in database.execute(query)] for query in asked["queries"]], sys.stdout)
