/** How what a View's author writes is refused: with a code, the place and what is accepted. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'

type ViewCode = 'VIEWS_QUERY_INVALID' | 'VIEWS_SDL_INVALID'

export function assertRefused(
  attempt: () => unknown,
  code: ViewCode,
  { message, remedy }: { readonly message: RegExp; readonly remedy: RegExp },
): void {
  assert.throws(attempt, (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, code)
    assert.match(error.message, message)
    assert.match(error.remedy ?? '', remedy)
    return true
  })
}

/** Any text, also one of these words in any order, is parsed or refused with the code. */
export function assertParsesOrRefuses(
  parse: (text: string) => void,
  code: ViewCode,
  words: readonly string[],
): void {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...words)).map((all) => all.join(' ')),
  )
  fc.assert(
    fc.property(texts, (text) => {
      try {
        parse(text)
      } catch (error) {
        assert.ok(error instanceof ServiceError && error.code === code, String(error))
      }
    }),
    { numRuns: 5_000 },
  )
}
