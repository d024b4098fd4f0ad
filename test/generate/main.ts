/**
 * `npm run generate` writes what is made from code: definitions of the Kubernetes resources, files of the
 * charts, sections of the documentation. With `--check` it writes nothing, names the files that differ
 * and exits with 1.
 */
import { differingFiles, writeFiles } from './generated-files.ts'

const isCheck = process.argv.includes('--check')
const paths = await (isCheck ? differingFiles() : writeFiles())
for (const path of paths) {
  process.stdout.write(
    isCheck ? `${path} is not what the code makes: run npm run generate\n` : `${path} written\n`,
  )
}
if (isCheck && paths.length > 0) process.exitCode = 1
