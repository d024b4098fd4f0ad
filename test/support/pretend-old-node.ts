/** Preloaded with --import: lets a program believe that it runs on a Node that is too old. */
import process from 'node:process'

Object.defineProperty(process, 'version', { value: 'v20.11.1' })
