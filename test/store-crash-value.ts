import { createHash } from 'node:crypto'

export const keysPerWriter = 4

/** A value that tells which write made it, and whether it is whole. Some have pages of their own, some share one. */
export function makeValue(key: string, seq: number): Buffer {
  const padding = 'x'.repeat((seq * 7919) % 6000)
  const body = `${key} ${seq} ${padding}`
  return Buffer.from(`${createHash('sha1').update(body).digest('hex')} ${body}`)
}

/** Throws if the value is not whole, or another key's. */
export function readSeq(value: Buffer, key: string): number {
  const seq = Number(value.toString().split(' ', 3)[2])
  if (!value.equals(makeValue(key, seq))) throw new Error(`the value of ${key} is damaged: ${value.toString('utf8', 0, 80)}`)
  return seq
}
