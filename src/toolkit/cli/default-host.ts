/** Where commands look for a Host that nobody named. */
import { ports } from '../../service/contract.ts'

export const defaultHostUrl: string = `http://127.0.0.1:${ports.api}`
