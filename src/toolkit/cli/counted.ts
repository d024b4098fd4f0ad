/** How many of something, in the singular for one. */
export function counted(number: number, name: string): string {
  return `${number} ${name}${number === 1 ? '' : 's'}`
}
