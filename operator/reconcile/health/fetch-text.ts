/**
 * Asks over HTTP and keeps nothing open. The platform's `fetch` keeps a pool for each address, which for a
 * thousand pods is most of the memory that the operator needs.
 */
import { get } from 'node:http'
import { text } from 'node:stream/consumers'

const maxAnswerBytes = 1_048_576

/**
 * The body of the answer, whatever its status. Throws where nothing answers before `signal` is aborted, or
 * more than 1 MiB.
 */
export async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const request = get(url, { agent: false, signal }, (response) => {
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxAnswerBytes) response.destroy(new Error('the answer is too long'))
    })
    text(response).then(resolve, reject)
  })
  request.on('error', reject)
  return await promise
}
