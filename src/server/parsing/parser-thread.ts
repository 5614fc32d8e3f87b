// The program of a thread that converts bodies for the server, one at a time.
// oxlint-disable unicorn/require-post-message-target-origin
import { parentPort } from 'node:worker_threads'
import { type ForeignBody, convertBody } from './foreign-body.ts'

parentPort!.on('message', (body: ForeignBody) => {
  const converted = convertBody(body)
  parentPort!.postMessage(converted, converted.kind === 'json' ? [converted.text.buffer as ArrayBuffer] : [])
})
