/** Apart from the settings, whose checks an application need not load. */

/** The peer ID at the end of the address of a peer. */
export function peerAtEnd(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1)
}
