/** An accepted list whose pins are kept beside the blocks, so that a restart forgets none. */
import { type AcceptedList, type AcceptedListOptions, createAcceptedList } from './accepted-list.ts'
import { type JsonRecordParts, openJsonRecord } from './json-record.ts'

/** Begins with what was pinned before, in the record of this name. */
export function openPinnedList(
  name: string,
  options: Omit<AcceptedListOptions, 'pins'>,
  parts: JsonRecordParts,
): AcceptedList {
  const record = openJsonRecord<AcceptedListOptions['pins']>(name, parts)
  const list = createAcceptedList({ ...options, pins: record.read() ?? {} })
  const kept = (isChanged: boolean): boolean => {
    if (isChanged) record.put(list.pins())
    return isChanged
  }
  return {
    ...list,
    prove: (peer, identity) => kept(list.prove(peer, identity)),
    keepPeers: (peers) => kept(list.keepPeers(peers)),
  }
}
