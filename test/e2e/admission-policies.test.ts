import { expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'

const cluster = useCluster()

const policy = (kind: string, name: string, spec: object) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, spec })
const matchConstraints = { resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] }] }
const manifest = (...items: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })

it('kubectl shows what validating policies refuse and warn of, and what mutating ones change', async () => {
  const { kubectl } = cluster
  const limit = policy('ValidatingAdmissionPolicy', 'replica-limit', {
    matchConstraints,
    variables: [{ name: 'replicas', expression: 'object.spec.replicas' }],
    validations: [{ expression: 'variables.replicas <= 5', messageExpression: "'at most 5 replicas, not ' + string(variables.replicas)" }],
  })
  const typo = policy('ValidatingAdmissionPolicy', 'typo', { matchConstraints, validations: [{ expression: 'object.spec.replica == 1' }] })
  const bound = (validationActions: string[]) => policy('ValidatingAdmissionPolicyBinding', 'replica-limit', { policyName: 'replica-limit', validationActions })
  kubectl.file('warn.yaml', manifest(limit, typo, bound(['Warn'])))
  kubectl.file('deny.yaml', manifest(bound(['Deny'])))
  await kubectl.ok('apply -f warn.yaml')
  const create = 'create deployment web --image=i --replicas=9'
  expect(await kubectl.run(create)).toMatchObject({
    code: 0,
    out: 'deployment.apps/web created\n',
    err: "Warning: Validation failed for ValidatingAdmissionPolicy 'replica-limit' with binding 'replica-limit': at most 5 replicas, not 9\n",
  })
  await kubectl.ok('apply -f deny.yaml')
  expect(await kubectl.refused('create deployment other --image=i --replicas=6')).toBe(
    "error: failed to create deployment: deployments.apps \"other\" is forbidden: ValidatingAdmissionPolicy 'replica-limit' with binding 'replica-limit' denied request: at most 5 replicas, not 6\n",
  )
  expect(await kubectl.refused('label deployment web a=b')).toBe(
    "The deployments \"web\" is invalid: : ValidatingAdmissionPolicy 'replica-limit' with binding 'replica-limit' denied request: at most 5 replicas, not 9\n",
  )
  expect(await kubectl.ok('scale deployment web --replicas=2')).toBe('deployment.apps/web scaled\n')

  const expression = 'Object{metadata: Object.metadata{labels: {"team": "shop"}}}'
  const label = policy('MutatingAdmissionPolicy', 'team', {
    matchConstraints, reinvocationPolicy: 'IfNeeded', mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  })
  kubectl.file('mutate.yaml', manifest(label, policy('MutatingAdmissionPolicyBinding', 'team', { policyName: 'team' })))
  await kubectl.ok('apply -f mutate.yaml')
  await kubectl.ok('create deployment other --image=i')
  expect(await kubectl.ok('get deployment other --show-labels --no-headers')).toMatch(/ app=other,team=shop\n$/)

  await kubectl.ok("wait validatingadmissionpolicy/typo --for=jsonpath='{.status.observedGeneration}'=1 --timeout=60s")
  expect(await kubectl.ok("get validatingadmissionpolicy typo -o jsonpath='{.status.typeChecking.expressionWarnings[0].warning}'")).toContain("undefined field 'replica'")
  kubectl.file('broken.yaml', manifest(policy('ValidatingAdmissionPolicy', 'broken', { matchConstraints, validations: [{ expression: 'object.spec.replicas +' }] })))
  expect(await kubectl.refused('apply -f broken.yaml')).toContain('spec.validations[0].expression: Invalid value: "object.spec.replicas +": compilation failed: ERROR: <input>:1:23: Syntax error')
})
