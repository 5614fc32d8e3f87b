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
  'api/generated/schema.ts',
  'api/json/exact.ts',
  'api/json/parse.ts',
  'api/json/syntax.ts',
  'api/kinds/pods/in-place-update.ts',
  'api/managed-fields/packed-owner.ts',
  'api/schema/descriptions.ts',
  'client/http/status-error.ts',
  'client/kubeconfig/exec-plugin.ts',
  'cluster/keys/cluster-keys.ts',
  'cluster/keys/server-bundle.ts',
  'cluster/serving/local-door.ts',
  'cluster/tools/backup-file.ts',
  'controllers/claim-recovery/settings.ts',
  'controllers/cloneset/in-place.ts',
  'controllers/cloneset/lifecycle.ts',
  'monitor/snapshot/snapshots.ts',
  'node/end-pods.ts',
  'node/images/image-access.ts',
  'node/pods/images/pull-credentials.ts',
  'node/runtime/pod-users.ts',
  'node/runtimes/cri/details.ts',
  'node/runtimes/cri/streaming.ts',
  'node/runtimes/process/images.ts',
  'node/runtimes/process/records.ts',
  'node/runtimes/process/shim-client.ts',
  'node/runtimes/process/shim/server.ts',
  'node/server/remote-command.ts',
  'server/auth/service-account-tokens.ts',
  'server/resources/autoscaling/hpa-behavior-annotation.ts',
  'server/resources/autoscaling/hpa-conversion.ts',
  'server/resources/core/service/node-port-claims.ts',
  'store/drivers/lmdb-format.ts',
]

const isSource = (file: string) => file.endsWith('.ts') && !file.endsWith('.test.ts')

it('objects of the API are read by what loses no digits', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(isSource)
  const callers = files.filter((file) => readFileSync(path.join(src, file), 'utf8').includes('JSON.parse('))
  expect(callers.map((file) => file.split(path.sep).join('/')).sort()).toEqual(allowed)
})
