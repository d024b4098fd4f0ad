/**
 * JSON that is YAML as well, since that is what the API server reads an apply as: it refuses some characters that JSON has
 * as they are, and takes others for ends of lines. They come in what pods and execution nodes say.
 */

/** Refused or changed unless they are escaped: https://yaml.org/spec/1.2.2/#51-character-set and BOM, LS and PS. */
const unlikeJson = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/** The text. Half of a surrogate pair, which is no character, is replaced as the API server does in JSON. */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value, (_name, found: unknown) =>
    typeof found === 'string' ? found.toWellFormed() : found,
  )
  return text.replace(unlikeJson, escapeOf)
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
