// A thread that asks for /livez again and again over a connection of its own, and tells how long the longest answer took.
// Threads have no origin.
/* oxlint-disable unicorn/require-post-message-target-origin */
import tls from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'

const { host, port, ca, everyMs } = workerData
const request = `GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`
let longestMs = 0
let count = 0
let sent = 0
let timer

const socket = tls.connect({ host, port, ca, servername: '' }, ask)
socket.setNoDelay(true)
function ask() {
  sent = performance.now()
  socket.write(request)
}
socket.on('data', () => {
  longestMs = Math.max(longestMs, performance.now() - sent)
  count++
  sent = 0
  timer = setTimeout(ask, everyMs)
})
socket.on('error', (error) => parentPort.postMessage({ error: String(error) }))

parentPort.on('message', (message) => {
  if (message === 'stop') {
    clearTimeout(timer)
    socket.destroy()
    parentPort.close()
    return
  }
  const waiting = sent ? performance.now() - sent : 0
  parentPort.postMessage({ longestMs: Math.max(longestMs, waiting), count })
  if (message === 'begin') longestMs = 0
})
