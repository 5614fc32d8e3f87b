import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { json } from 'node:stream/consumers'
import { HttpTransport, Logger, MetricsRegistry, loadAccess } from 'coxswain/client'
import { type AdmissionReview, ControllerManager, answerReview, serveMonitoring } from 'coxswain/controllers'
import { judge, websiteController } from './operator.ts'

const transport = new HttpTransport(await loadAccess())
const metrics = new MetricsRegistry()
const logger = new Logger((line) => console.log(line))
const manager = new ControllerManager({ transport, controllers: [websiteController], metrics, logger, namespaces: ['default', 'shop'], waitsForKinds: false })
const monitoring = await serveMonitoring({ manager, metrics })

const dir = process.env['CERTIFICATES']
const webhook = dir && createServer({ cert: readFileSync(`${dir}/tls.crt`), key: readFileSync(`${dir}/tls.key`) }, async (request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(await answerReview((await json(request)) as AdmissionReview, judge)))
}).listen(8443)

await manager.start() // rejects if the kind is not served, or may not be read
console.log('ready')
await new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve))
if (webhook) webhook.close()
await manager.stop()
await monitoring.close()
await transport.close()
