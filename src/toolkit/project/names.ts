/** Names of Views and labels of lenses: both become parts of paths, and neither may lead out of the project. */
import { usageError } from '../cli/exit-code.ts'

/** No dots, so that `<view>.<label>` means one thing. */
const viewPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const labelPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** Whether a View can be named so. */
export function isViewName(name: string): boolean {
  return viewPattern.test(name)
}

/** @throws ServiceError `TOOLKIT_USAGE_INVALID` where it is no name of a View. */
export function checkViewName(name: string): void {
  if (!isViewName(name))
    throw usageError(
      `${JSON.stringify(name)} cannot be the name of a View`,
      'A name begins with a letter and has at most 64 letters, digits, - and _.',
    )
}

/** Whether a lens can be labelled so. */
export function isLensLabel(label: string): boolean {
  return labelPattern.test(label) && !label.includes('..') && !label.endsWith('.')
}

/** @throws ServiceError `TOOLKIT_USAGE_INVALID` where it is no label of a lens. */
export function checkLensLabel(label: string): void {
  if (!isLensLabel(label))
    throw usageError(
      `${JSON.stringify(label)} cannot be the label of a lens`,
      'A label begins with a letter or digit and has at most 64 letters, digits, -, _ and single dots.',
    )
}
