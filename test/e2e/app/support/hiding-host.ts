/** A preload that lets a real Host hide from applications which blocks gave way. What it signs and passes on is true. */
import { alterSource } from './altered-source.ts'
import { hiding } from './hidden-frames.ts'

alterSource({
  file: new URL('../../../../src/host/follow/session.ts', import.meta.url),
  found: 'const sending = toSending(due.frame())',
  put: `const frame = altered(due.frame())
    if (frame === null) {
      due.done()
      continue
    }
    const sending = toSending(frame)`,
  altered: hiding,
})
