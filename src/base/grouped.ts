/** Maps whose values are made when the first thing of a key comes. */

/** Lists by key, made one value at a time. A copy of the list for each value would take time with the square of their number. */
export function addTo<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = groups.get(key);
  if (known) known.push(value);
  else groups.set(key, [value]);
}

/** The value of a key. If there is none, it is made and kept. */
export function entryOf<Key, Value>(entries: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = entries.get(key);
  if (value === undefined) entries.set(key, (value = make()));
  return value;
}
