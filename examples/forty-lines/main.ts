import { HttpTransport, loadAccess } from 'coxswain/client'
import { ControllerManager } from 'coxswain/controllers'
import { podQuota } from './pod-quota.ts'

const transport = new HttpTransport(await loadAccess())
const manager = new ControllerManager({ transport, controllers: [podQuota] })
await manager.start()
console.log('ready')
await new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve))
await manager.stop()
await transport.close()
