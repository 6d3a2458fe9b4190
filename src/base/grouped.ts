/** Lists by key, made one value at a time. A copy of the list for each value would take time with the square of their number. */

export function addTo<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = groups.get(key);
  if (known) known.push(value);
  else groups.set(key, [value]);
}
