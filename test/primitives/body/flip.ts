/** Changes one bit. */
export function flip(bytes: Buffer, at: number, bit = 0): void {
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
}
