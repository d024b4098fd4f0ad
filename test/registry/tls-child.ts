/** Asks the LCD and the consensus RPC at the URL of its argument; prints how each went, as JSON. */
import { ServiceError } from '../../src/errors.ts'
import { openCometSocket } from '../../src/registry/comet-socket.ts'
import { openLcd } from '../../src/registry/lcd.ts'

const url = process.argv[2] ?? ''
const timeoutMs = 10_000
const never = new AbortController().signal

async function outcome(asking: Promise<unknown>): Promise<unknown> {
  try {
    await asking
    return 'answered'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, remedy } = error
    return { code, message, remedy }
  }
}

const lcd = openLcd({ url, timeoutMs })
const listed = await outcome(lcd.page(null, 1, never))
await lcd.close()
const options = { url, queries: ['a'], timeoutMs, silentMs: timeoutMs }
const subscribed = await outcome(
  openCometSocket(options, () => undefined, never).then((socket) => socket.close()),
)
process.stdout.write(JSON.stringify({ listed, subscribed }))
