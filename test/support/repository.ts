/** Where the repository is; for tests that read its files and need nothing else of it. */
import { fileURLToPath } from 'node:url'

/** Its top folder, without a slash at the end. */
export const repository: string = fileURLToPath(new URL('../..', import.meta.url)).replace(
  /\/$/,
  '',
)
