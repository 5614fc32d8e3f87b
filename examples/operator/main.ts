import { readFileSync } from 'node:fs'
import { HttpTransport, Logger, MetricsRegistry, loadAccess } from 'coxswain/client'
import { ControllerManager, serveMonitoring, serveWebhook } from 'coxswain/controllers'
import { judge, websiteController } from './operator.ts'

const transport = new HttpTransport(await loadAccess())
const metrics = new MetricsRegistry()
const logger = new Logger((line) => console.log(line))
const manager = new ControllerManager({ transport, controllers: [websiteController], metrics, logger, namespaces: ['default', 'shop'], waitsForKinds: false })
const monitoring = await serveMonitoring({ manager, metrics })

const dir = process.env['CERTIFICATES']
const webhook = dir && (await serveWebhook({ cert: readFileSync(`${dir}/tls.crt`), key: readFileSync(`${dir}/tls.key`), judge, logger }))

await manager.start() // rejects if the kind is not served, or may not be read
console.log('ready')
await new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve))
if (webhook) await webhook.close()
await manager.stop()
await monitoring.close()
await transport.close()
