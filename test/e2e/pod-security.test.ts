import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { useCluster, useControllers } from '../kubectl/cluster.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-pod-security-'))
const config = path.join(dir, 'admission.yaml')
writeFileSync(config, `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    exemptions: {namespaces: [machines]}
- name: EventRateLimit
  configuration:
    limits: [{type: Namespace, qps: 1, burst: 5000}]
`)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const cluster = useCluster(
  [`--admission-control-config-file=${config}`, '--enable-admission-plugins=AlwaysPullImages,EventRateLimit'],
)
useControllers(cluster)

const label = 'pod-security.kubernetes.io'
const bare = (who: string) =>
  `allowPrivilegeEscalation != false (${who} must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (${who} must set ` +
  `securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or ${who} must set securityContext.runAsNonRoot=true), seccompProfile ` +
  `(pod or ${who} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`

/** A namespace with an account, as pods need it. */
async function namespace(name: string, ...labels: string[]): Promise<void> {
  await cluster.kubectl.ok(`create namespace ${name}`)
  await cluster.kubectl.ok(`-n ${name} wait --for=create serviceaccount/default --timeout=60s`)
  if (labels.length) await cluster.kubectl.ok(`label namespace ${name} ${labels.map((l) => `${label}/${l}`).join(' ')}`)
}

const good = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'good' },
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      { name: 'c', image: 'i', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
    ],
  },
})

describe('a restricted namespace', () => {
  it('refuses pods that ask for too much, warns of workloads, and takes what is fine', async () => {
    await namespace('shop', 'enforce=restricted', 'enforce-version=v1.36')
    expect(await cluster.kubectl.refused('-n shop run a --image=i')).toBe(
      `Error from server (Forbidden): pods "a" is forbidden: violates PodSecurity "restricted:v1.36": ${bare('container "a"')}\n`,
    )
    expect(await cluster.kubectl.run('-n shop create deployment web --image=i')).toMatchObject({
      code: 0, out: 'deployment.apps/web created\n',
      err: `Warning: would violate PodSecurity "restricted:v1.36": ${bare('container "i"')}\n`,
    })
    expect(await cluster.kubectl.ok('-n shop create -f -', good)).toBe('pod/good created\n')
    await cluster.kubectl.ok('-n shop wait --for=condition=ReplicaFailure deployment/web --timeout=60s')
    expect(
      await cluster.kubectl.ok(
        `-n shop get deployment web -o 'jsonpath={.status.conditions[?(@.type=="ReplicaFailure")].message}'`,
      ),
    ).toContain(
      'is forbidden: violates PodSecurity "restricted:v1.36": allowPrivilegeEscalation != false',
    )
  })

  it('lets a pod be labelled, and does not let it have more', async () => {
    await cluster.kubectl.ok('-n shop label pod good tier=web')
    expect(
      await cluster.kubectl.run('-n shop debug good --image=i --profile=general -q --attach=false'),
    ).toMatchObject({
      code: 1, err: expect.stringContaining('violates PodSecurity "restricted:v1.36"'),
    })
  })
})

describe('labels of a namespace', () => {
  it('must be readable', async () => {
    await namespace('typo')
    expect(
      await cluster.kubectl.refused(`label namespace typo ${label}/enforce=strict ${label}/warn-version=1.36`),
    ).toBe(
      `The Namespace "typo" is invalid: \n* metadata.labels[${label}/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted` +
        `\n* metadata.labels[${label}/warn-version]: Invalid value: "1.36": must be "latest" or "v1.x"\n`,
    )
  })

  it('tell of the pods that are there, on a dry run, too', async () => {
    await namespace('old')
    for (const name of ['a', 'b']) await cluster.kubectl.ok(`-n old run ${name} --image=i`)
    await cluster.kubectl.ok(`-n old run host --image=i --overrides='{"spec":{"hostPID":true}}'`)
    const reasons = 'allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile'
    for (const flags of ['--dry-run=server ', '']) {
      expect((await cluster.kubectl.run(`label ${flags}namespace old ${label}/enforce=restricted`)).err).toBe(
        'Warning: existing pods in namespace "old" violate the new PodSecurity enforce level "restricted:latest"\n' +
          `Warning: a (and 1 other pod): ${reasons}\nWarning: host: host namespaces, ${reasons}\n`,
      )
    }
  })

  it('do not count where the namespace is exempt', async () => {
    await namespace('machines')
    expect((await cluster.kubectl.run(`label namespace machines ${label}/enforce=restricted`)).err).toBe(
      'Warning: namespace "machines" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored\n',
    )
    expect((await cluster.kubectl.run('-n machines run a --image=i')).err).toBe('')
  })
})

describe('options', () => {
  it('AlwaysPullImages changes the policy of a pod', async () => {
    await namespace('pulled')
    await cluster.kubectl.ok('-n pulled run a --image=i --image-pull-policy=Never')
    expect(
      await cluster.kubectl.ok('-n pulled get pod a -o jsonpath={.spec.containers[0].imagePullPolicy}'),
    ).toBe('Always')
  })
})
