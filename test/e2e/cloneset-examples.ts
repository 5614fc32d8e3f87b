/** Manifests as OpenKruise's documentation of CloneSets has them: a whole set, with what an example is about, in either version. */
export interface CloneSetExample {
  name: string
  v1alpha1: string
  v1beta1: string
}

const indented = (text: string, by: number) => text.trim().split('\n').map((line) => `${' '.repeat(by)}${line}`).join('\n')

const whole = (version: string, name: string, template: string, more: string) => `apiVersion: apps.kruise.io/${version}
kind: CloneSet
metadata:
  labels:
    app: sample
  name: ${name}
spec:
  replicas: 5
  selector:
    matchLabels:
      app: sample
  template:
    metadata:
      labels:
        app: sample
    spec:
      containers:
      - name: nginx
        image: nginx:alpine
${template}
${more && indented(more, 2)}
`

const example = (name: string, v1alpha1: string, v1beta1 = v1alpha1, template = ''): CloneSetExample => ({
  name,
  v1alpha1: whole('v1alpha1', `${name}-alpha`, indented(template, 8), v1alpha1),
  v1beta1: whole('v1beta1', `${name}-beta`, indented(template, 8), v1beta1),
})

/** The settings of an update are next to the type in v1alpha1 and in rollingUpdate in v1beta1. */
const updating = (name: string, fields: string, policy = ''): CloneSetExample =>
  example(
    name,
    `updateStrategy:\n${indented(`${policy && `type: ${policy}\n`}${fields}`, 2)}`,
    `updateStrategy:\n  type: RollingUpdate\n  rollingUpdate:\n${indented(`${policy && `podUpdatePolicy: ${policy}\n`}${fields}`, 4)}`,
  )

const hooks = `lifecycle:
  preNormal:
    finalizersHandler:
    - example.io/unready-blocker
  preDelete:
    markPodNotReady: true
    finalizersHandler:
    - example.io/unready-blocker
  inPlaceUpdate:
    labelsHandler:
      example.io/block-unready: "true"`

const claims = `volumeClaimTemplates:
  - metadata:
      name: data-vol
    spec:
      accessModes: [ "ReadWriteOnce" ]
      resources:
        requests:
          storage: 20Gi`

export const cloneSetExamples: readonly CloneSetExample[] = [
  example('sample', ''),
  example('data', claims, claims, 'volumeMounts:\n- name: data-vol\n  mountPath: /usr/share/nginx/html'),
  example('reuse', 'scaleStrategy:\n  disablePVCReuse: true', 'scaleStrategy:\n  enablePVCReuse: false'),
  example('slowly', 'minReadySeconds: 60\nscaleStrategy:\n  maxUnavailable: 1'),
  example('deadline', 'progressDeadlineSeconds: 600'),
  example('hooks', hooks),
  updating('in-place', 'inPlaceUpdateStrategy:\n  gracePeriodSeconds: 10', 'InPlaceIfPossible'),
  updating('partition', 'partition: 3'),
  updating('unavailable', 'maxUnavailable: 20%'),
  updating('surge', 'maxSurge: 3'),
  updating(
    'weight',
    'priorityStrategy:\n  weightPriority:\n  - weight: 50\n    matchSelector:\n      matchLabels:\n        test-key: foo\n  - weight: 30\n    matchSelector:\n      matchLabels:\n        test-key: bar',
  ),
  updating('order', 'priorityStrategy:\n  orderPriority:\n    - orderedKey: some-label-key'),
  updating('scatter', 'scatterStrategy:\n- key: foo\n  value: bar'),
  updating('paused', 'paused: true'),
]
