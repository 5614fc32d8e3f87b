import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import { servePortChannels } from './port-forward.ts'

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

it('servePortChannels() carries data of each port on its own channel, and errors on the next', async () => {
  const sent: string[] = []
  let isClosed = false
  const connection: Connection = {
    onMessage: () => {},
    onClose: () => {},
    send: (message) => sent.push(message.toString('latin1')) > 0,
    drained: (resume) => resume(),
    pause: () => {},
    resume: () => {},
    close: () => (isClosed = true),
  }
  const [toPod, fromPod] = [new PassThrough(), new PassThrough()]
  servePortChannels(connection, 'p', [80, 81], async (port) => {
    if (port === 81) throw new Error('refused')
    return { readable: fromPod, writable: toPod }
  })
  connection.onMessage(Buffer.from('\0ask'))
  await settle()
  fromPod.write('answer')
  await settle()
  expect(String(toPod.read())).toBe('ask')
  expect(sent).toEqual(['\0P\0', '\x01P\0', '\x02Q\0', '\x03Q\0', '\x03error forwarding port 81 to pod p: refused', '\0answer'])
  fromPod.end()
  await settle()
  await settle()
  expect(isClosed).toBe(true)
  connection.onClose()
})
