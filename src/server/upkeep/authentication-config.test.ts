import { expect, test } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import type { ConfigMap } from '../../api/generated/types.ts'
import { configmaps } from '../resources/core/configmaps.ts'
import { ServerTrial } from '../server-trial.ts'
import { keepAuthenticationConfig } from './authentication-config.ts'

const place = ['', 'configmaps', 'kube-system', 'extension-apiserver-authentication'] as const
const authorities = { clients: 'CLIENTS', proxies: 'PROXIES' }
const wanted = {
  'client-ca-file': 'CLIENTS',
  'requestheader-allowed-names': '["front-proxy-client"]',
  'requestheader-client-ca-file': 'PROXIES',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-username-headers': '["X-Remote-User"]',
}
const rest = () => new Promise((resolve) => setImmediate(resolve))

async function start() {
  const { parts } = await ServerTrial.open()
  await keepAuthenticationConfig(parts.access, authorities, silentLogger)
  return { parts, read: () => parts.access.get<ConfigMap>(...place) }
}

test('what extension servers need is published', async () => {
  const { read } = await start()
  expect(read()?.data).toEqual(wanted)
})

test('what has changed is put right, and what others have added stays', async () => {
  const { parts, read } = await start()
  const before = read()
  await keepAuthenticationConfig(parts.access, authorities, silentLogger)
  expect(read()).toBe(before)
  await parts.access.update<ConfigMap>(configmaps, place[2], place[3], (copy) => ({ ...copy, data: { ...copy.data, more: 'x', 'client-ca-file': 'OTHER\n', 'requestheader-group-headers': '[]' } }))
  await rest()
  expect(read()?.data).toEqual({ ...wanted, more: 'x', 'client-ca-file': 'OTHER\nCLIENTS' })
})

test('it is made again if somebody deletes it', async () => {
  const { parts, read } = await start()
  await parts.access.delete(configmaps, place[2], place[3], {})
  await rest()
  expect(read()?.data).toEqual(wanted)
})
