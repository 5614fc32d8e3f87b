// The program of a thread that converts bodies and answers for the server, one at a time.
// oxlint-disable unicorn/require-post-message-target-origin
import { parentPort } from 'node:worker_threads'
import { type ForeignBody, type YamlAnswer, convertBody, writeAnswer } from './foreign-body.ts'

parentPort!.on('message', async (work: ForeignBody | YamlAnswer) => {
  const converted = work.format === 'to yaml' ? await writeAnswer(work) : convertBody(work)
  parentPort!.postMessage(converted, converted.kind === 'json' ? [converted.text.buffer as ArrayBuffer] : [])
})
