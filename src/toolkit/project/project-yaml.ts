/** YAML of a project, which may come from a stranger: bounded before it is parsed, and nothing of it is printed by the parser. */
import { Lexer, parse } from 'yaml'

/**
 * Tokens, spaces and line ends included: of `view.yaml` with a thousand arguments some 10,000. Parsing takes a kilobyte for each,
 * and for those of a few megabytes all memory.
 */
const maxTokens = 100_000

/** The value of a text. @throws RangeError where it has more tokens; what the parser throws */
export function parseProjectYaml(text: string): unknown {
  let tokens = 0
  for (const _ of new Lexer().lex(text))
    if (++tokens > maxTokens) throw new RangeError(`it has more than ${maxTokens} tokens`)
  // By default it prints warnings, with the text that they are about as it is.
  return parse(text, { logLevel: 'error' })
}
