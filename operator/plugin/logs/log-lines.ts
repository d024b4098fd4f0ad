/** Bytes of a log as lines, each of a bounded length. */
import { StringDecoder } from 'node:string_decoder'

/** Lines without their ends; longer ones than `maxLength` characters are cut, and say so. */
export async function* logLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLength = 65_536,
): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let begun = ''
  let dropped = 0
  const take = (piece: string): void => {
    const kept = piece.slice(0, maxLength - begun.length)
    begun += kept
    dropped += piece.length - kept.length
  }
  const end = (): string => {
    const line = dropped === 0 ? begun : `${begun} (${dropped} more characters)`
    begun = ''
    dropped = 0
    return line
  }
  for await (const chunk of chunks) {
    const [first = '', ...rest] = decoder.write(Buffer.from(chunk)).split('\n')
    take(first)
    for (const piece of rest) {
      yield end()
      take(piece)
    }
  }
  take(decoder.end())
  if (begun !== '') yield end()
}
