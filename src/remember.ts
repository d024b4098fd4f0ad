/** Maps that others fill, kept from growing. */

/** Sets an entry of a map, which forgets what was set longest ago where it has more than `maxEntries`. */
export function remember<V>(map: Map<string, V>, key: string, value: V, maxEntries: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= maxEntries) return
    map.delete(oldest)
  }
}
