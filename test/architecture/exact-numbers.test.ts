import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const src = path.resolve(import.meta.dirname, '../../src')

/**
 * Files that may call JSON.parse. They read no object of the API, or only parts of one that have no int64. All others
 * use `readJson` or `parseJson`, because JSON.parse silently rounds integers beyond 2^53. JSON.stringify needs no
 * such list: it throws for a bigint.
 */
const allowed = [
  'api/docs.ts',
  'api/generated/schema.ts',
  'api/json/exact.ts',
  'api/json/parse.ts',
  'api/json/syntax.ts',
  'api/kinds/in-place-update.ts',
  'api/managed-fields/packed-owner.ts',
  'client/http/status-error.ts',
  'client/kubeconfig/exec-plugin.ts',
  'cluster/backup.ts',
  'cluster/cluster-keys.ts',
  'controllers/claim-recovery/recovery.ts',
  'controllers/claim-recovery/tries.ts',
  'controllers/cloneset/in-place-grace.ts',
  'controllers/cloneset/lifecycle-gates.ts',
  'monitor/snapshot/snapshots.ts',
  'node/pods/pull-credentials.ts',
  'node/runtime/pod-users.ts',
  'node/runtimes/process/images.ts',
  'node/runtimes/process/records.ts',
  'node/runtimes/process/shim-client.ts',
  'node/runtimes/process/shim/server.ts',
  'node/server/remote-command.ts',
  'server/auth/service-account-tokens.ts',
  'server/resources/autoscaling/hpa-behavior-annotation.ts',
  'server/resources/autoscaling/hpa-conversion.ts',
  'server/resources/core/secrets.ts',
  'store/drivers/lmdb-format.ts',
]

const isSource = (file: string) => file.endsWith('.ts') && !file.endsWith('.test.ts')

it('objects of the API are read by what loses no digits', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(isSource)
  const callers = files.filter((file) => readFileSync(path.join(src, file), 'utf8').includes('JSON.parse('))
  expect(callers.map((file) => file.split(path.sep).join('/')).sort()).toEqual(allowed)
})
