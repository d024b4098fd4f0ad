/**
 * A preload that lets a real Host keep to itself, for some seconds in turn, rows, what it signed, or both. What gave way,
 * its head, and what others signed it tells; what it says is true.
 */
import { alterSource } from './altered-source.ts'
import { isWithheld } from './withheld-frames.ts'

alterSource({
  file: new URL('../../../../src/host/follow/session.ts', import.meta.url),
  found: 'await channel.write(bytes)',
  put: 'if (!altered(kind)) await channel.write(bytes)',
  altered: isWithheld,
})
