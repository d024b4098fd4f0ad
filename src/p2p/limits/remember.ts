/** Sets an entry of a map that forgets what was set longest ago, so that peers cannot make it grow. */
export function remember<V>(map: Map<string, V>, key: string, value: V, maxEntries: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= maxEntries) return
    map.delete(oldest)
  }
}
