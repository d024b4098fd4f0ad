/** Reads a secret from the file a setting names, as orchestrators mount it. */
import { readFileSync, statSync } from 'node:fs'
import { codeOf } from '../../errors.ts'

type SecretReading =
  | { readonly value: string; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: string }

const maxBytes = 65_536

/** The file's text without line breaks at its end, or what is wrong; `place` is the setting that names it. */
export function readSecretFile(place: string, path: string): SecretReading {
  const problem = (what: string): SecretReading => ({
    problem: `${place} points to ${path}, ${what}; accepted is a file that holds the secret`,
  })
  try {
    const stat = statSync(path)
    if (stat.isDirectory())
      return problem(
        'which is a directory, as in Kubernetes where the Secret lacked that key when the pod was made (add the key, then delete the pod, which stays as it is otherwise)',
      )
    if (stat.size > maxBytes) return problem(`which has ${stat.size} bytes (at most ${maxBytes})`)
    const value = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '')
    return value.trim() === '' ? problem('which is empty') : { value }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return problem('where there is nothing')
    if (code === 'EACCES' || code === 'EPERM') return problem('which this user may not read')
    return problem(`which cannot be read (${error instanceof Error ? error.message : error})`)
  }
}
