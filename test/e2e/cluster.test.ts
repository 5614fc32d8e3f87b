import { describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { block } from '../kubectl/masks.ts'

const cluster = useCluster()

describe('kubectl version', () => {
  it('shows a server of the same minor version', async () => {
    expect(await cluster.kubectl.ok('version')).toMatch(/^Client Version: v1\.36\.\d+\nKustomize Version: v5\.\d+\.\d+\nServer Version: v1\.36\.\d+\+coxswain\.\S+\n$/)
  })
})

describe('kubectl api-versions', () => {
  it('lists every group', async () => {
    expect(await cluster.kubectl.ok('api-versions')).toBe(block`
      admissionregistration.k8s.io/v1
      apiextensions.k8s.io/v1
      apiregistration.k8s.io/v1
      apps.kruise.io/v1alpha1
      apps.kruise.io/v1beta1
      apps/v1
      authentication.k8s.io/v1
      authorization.k8s.io/v1
      autoscaling/v1
      autoscaling/v2
      batch/v1
      certificates.k8s.io/v1
      coordination.k8s.io/v1
      discovery.k8s.io/v1
      events.k8s.io/v1
      flowcontrol.apiserver.k8s.io/v1
      metrics.k8s.io/v1beta1
      networking.k8s.io/v1
      node.k8s.io/v1
      policy/v1
      rbac.authorization.k8s.io/v1
      resource.k8s.io/v1
      scheduling.k8s.io/v1
      storage.k8s.io/v1
      v1
    `)
  })
})

describe('kubectl api-resources', () => {
  it('lists every kind with its short names and scope', async () => {
    expect(await cluster.kubectl.ok('api-resources')).toBe(block`
      NAME                                SHORTNAMES   APIVERSION                        NAMESPACED   KIND
      bindings                                         v1                                true         Binding
      componentstatuses                   cs           v1                                false        ComponentStatus
      configmaps                          cm           v1                                true         ConfigMap
      endpoints                           ep           v1                                true         Endpoints
      events                              ev           v1                                true         Event
      limitranges                         limits       v1                                true         LimitRange
      namespaces                          ns           v1                                false        Namespace
      nodes                               no           v1                                false        Node
      persistentvolumeclaims              pvc          v1                                true         PersistentVolumeClaim
      persistentvolumes                   pv           v1                                false        PersistentVolume
      pods                                po           v1                                true         Pod
      podtemplates                                     v1                                true         PodTemplate
      replicationcontrollers              rc           v1                                true         ReplicationController
      resourcequotas                      quota        v1                                true         ResourceQuota
      secrets                                          v1                                true         Secret
      serviceaccounts                     sa           v1                                true         ServiceAccount
      services                            svc          v1                                true         Service
      mutatingadmissionpolicies                        admissionregistration.k8s.io/v1   false        MutatingAdmissionPolicy
      mutatingadmissionpolicybindings                  admissionregistration.k8s.io/v1   false        MutatingAdmissionPolicyBinding
      mutatingwebhookconfigurations                    admissionregistration.k8s.io/v1   false        MutatingWebhookConfiguration
      validatingadmissionpolicies                      admissionregistration.k8s.io/v1   false        ValidatingAdmissionPolicy
      validatingadmissionpolicybindings                admissionregistration.k8s.io/v1   false        ValidatingAdmissionPolicyBinding
      validatingwebhookconfigurations                  admissionregistration.k8s.io/v1   false        ValidatingWebhookConfiguration
      customresourcedefinitions           crd,crds     apiextensions.k8s.io/v1           false        CustomResourceDefinition
      apiservices                                      apiregistration.k8s.io/v1         false        APIService
      controllerrevisions                              apps/v1                           true         ControllerRevision
      daemonsets                          ds           apps/v1                           true         DaemonSet
      deployments                         deploy       apps/v1                           true         Deployment
      replicasets                         rs           apps/v1                           true         ReplicaSet
      statefulsets                        sts          apps/v1                           true         StatefulSet
      clonesets                           clone        apps.kruise.io/v1beta1            true         CloneSet
      selfsubjectreviews                               authentication.k8s.io/v1          false        SelfSubjectReview
      tokenreviews                                     authentication.k8s.io/v1          false        TokenReview
      localsubjectaccessreviews                        authorization.k8s.io/v1           true         LocalSubjectAccessReview
      selfsubjectaccessreviews                         authorization.k8s.io/v1           false        SelfSubjectAccessReview
      selfsubjectrulesreviews                          authorization.k8s.io/v1           false        SelfSubjectRulesReview
      subjectaccessreviews                             authorization.k8s.io/v1           false        SubjectAccessReview
      horizontalpodautoscalers            hpa          autoscaling/v2                    true         HorizontalPodAutoscaler
      cronjobs                            cj           batch/v1                          true         CronJob
      jobs                                             batch/v1                          true         Job
      certificatesigningrequests          csr          certificates.k8s.io/v1            false        CertificateSigningRequest
      leases                                           coordination.k8s.io/v1            true         Lease
      endpointslices                                   discovery.k8s.io/v1               true         EndpointSlice
      events                              ev           events.k8s.io/v1                  true         Event
      flowschemas                                      flowcontrol.apiserver.k8s.io/v1   false        FlowSchema
      prioritylevelconfigurations                      flowcontrol.apiserver.k8s.io/v1   false        PriorityLevelConfiguration
      nodes                                            metrics.k8s.io/v1beta1            false        NodeMetrics
      pods                                             metrics.k8s.io/v1beta1            true         PodMetrics
      ingressclasses                                   networking.k8s.io/v1              false        IngressClass
      ingresses                           ing          networking.k8s.io/v1              true         Ingress
      ipaddresses                         ip           networking.k8s.io/v1              false        IPAddress
      networkpolicies                     netpol       networking.k8s.io/v1              true         NetworkPolicy
      servicecidrs                                     networking.k8s.io/v1              false        ServiceCIDR
      runtimeclasses                                   node.k8s.io/v1                    false        RuntimeClass
      poddisruptionbudgets                pdb          policy/v1                         true         PodDisruptionBudget
      clusterrolebindings                              rbac.authorization.k8s.io/v1      false        ClusterRoleBinding
      clusterroles                                     rbac.authorization.k8s.io/v1      false        ClusterRole
      rolebindings                                     rbac.authorization.k8s.io/v1      true         RoleBinding
      roles                                            rbac.authorization.k8s.io/v1      true         Role
      deviceclasses                                    resource.k8s.io/v1                false        DeviceClass
      resourceclaims                                   resource.k8s.io/v1                true         ResourceClaim
      resourceclaimtemplates                           resource.k8s.io/v1                true         ResourceClaimTemplate
      resourceslices                                   resource.k8s.io/v1                false        ResourceSlice
      priorityclasses                     pc           scheduling.k8s.io/v1              false        PriorityClass
      csidrivers                                       storage.k8s.io/v1                 false        CSIDriver
      csinodes                                         storage.k8s.io/v1                 false        CSINode
      csistoragecapacities                             storage.k8s.io/v1                 true         CSIStorageCapacity
      storageclasses                      sc           storage.k8s.io/v1                 false        StorageClass
      volumeattachments                                storage.k8s.io/v1                 false        VolumeAttachment
      volumeattributesclasses             vac          storage.k8s.io/v1                 false        VolumeAttributesClass
    `)
  })

  it.each([
    ['--verbs=watch --namespaced=false --api-group=networking.k8s.io -o name', 'ingressclasses.networking.k8s.io\nipaddresses.networking.k8s.io\nservicecidrs.networking.k8s.io\n'],
    [
      '--categories=all -o name',
      'pods\nreplicationcontrollers\nservices\ndaemonsets.apps\ndeployments.apps\nreplicasets.apps\nstatefulsets.apps\nhorizontalpodautoscalers.autoscaling\ncronjobs.batch\njobs.batch\n',
    ],
  ])('is narrowed by %s', async (flags, names) => {
    expect(await cluster.kubectl.ok(`api-resources ${flags}`)).toBe(names)
  })
})

describe('kubectl explain', () => {
  it('shows the fields below a field', async () => {
    expect(await cluster.kubectl.ok('explain deployment.spec.strategy --recursive')).toBe(
      [
        'GROUP:      apps',
        'KIND:       Deployment',
        'VERSION:    v1',
        '',
        'FIELD: strategy <DeploymentStrategy>',
        '',
        '',
        'DESCRIPTION:',
        '    The deployment strategy to use to replace existing pods with new ones.',
        '    DeploymentStrategy describes how to replace existing pods with new ones.',
        '    ',
        'FIELDS:',
        '  rollingUpdate\t<RollingUpdateDeployment>',
        '    maxSurge\t<IntOrString>',
        '    maxUnavailable\t<IntOrString>',
        '  type\t<string>',
        '  enum: Recreate, RollingUpdate',
        '',
        '',
      ].join('\n'),
    )
  })

  it('lists the values that a field can have', async () => {
    const text = await cluster.kubectl.ok('explain pod.spec.restartPolicy')
    expect(text.slice(0, text.indexOf('DESCRIPTION:'))).toBe('KIND:       Pod\nVERSION:    v1\n\nFIELD: restartPolicy <string>\nENUM:\n    Always\n    Never\n    OnFailure\n\n')
    expect(text).toContain('    Restart policy for all containers within the pod. One of Always, OnFailure,\n    Never.')
  })

  it.each([
    ['replicaset', 'Available, ReplicaFailure'],
    ['replicationcontroller', 'Available, ReplicaFailure'],
    ['deployment', 'Progressing, Available, ReplicaFailure'],
    ['statefulset', 'Progressing, Available, ReplicaFailure'],
    ['daemonset', 'Progressing, Available, ReplicaFailure'],
    ['cloneset', 'Progressing, Available, ReplicaFailure, FailedScale, FailedUpdate'],
    ['job', 'Suspended, Complete, Failed, FailureTarget, SuccessCriteriaMet, Waiting, Running'],
  ])('names the conditions of a %s, and says what each means', async (kind, types) => {
    const text = (await cluster.kubectl.ok(`explain ${kind}.status.conditions`)).replaceAll(/\s+/g, ' ')
    expect(text).toContain(`Their types are ${types}.`)
    for (const type of types.split(', ')) expect(text).toContain(`. ${type}: `)
  })

  it('tells how many pods may be unavailable during an update, and how many more there may be', async () => {
    const about = async (field: string) => (await cluster.kubectl.ok(`explain ${field}`)).replaceAll(/\s+/g, ' ')
    expect(await about('statefulset.spec.updateStrategy.rollingUpdate.maxUnavailable')).toContain(
      'DESCRIPTION: How many pods may be unavailable during an update: a positive number, or a percentage of replicas',
    )
    expect(await about('daemonset.spec.updateStrategy.rollingUpdate.maxSurge')).toContain('On how many nodes a new pod')
    expect(await about('deployment.spec.strategy.rollingUpdate.maxSurge')).toContain('Defaults to 25%.')
  })

  it('names a field that does not exist', async () => {
    expect(await cluster.kubectl.refused('explain pod.spec.colour')).toBe('error: field "colour" does not exist\n')
  })
})

describe('kubectl cluster-info', () => {
  it('shows where the server is', async () => {
    expect(await cluster.kubectl.ok('cluster-info')).toBe(
      `Kubernetes control plane is running at ${cluster.server.url}\n\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n`,
    )
  })
})

describe('kubectl config view', () => {
  it('shows the kubeconfig without its keys', async () => {
    expect(await cluster.kubectl.ok('config view')).toBe(block`
      apiVersion: v1
      clusters:
      - cluster:
          certificate-authority-data: DATA+OMITTED
          server: ${cluster.server.url}
        name: coxswain
      contexts:
      - context:
          cluster: coxswain
          user: kubernetes-admin
        name: coxswain
      current-context: coxswain
      kind: Config
      users:
      - name: kubernetes-admin
        user:
          client-certificate-data: DATA+OMITTED
          client-key-data: DATA+OMITTED
    `)
  })
})

describe('kubectl auth', () => {
  it.each([
    ['auth whoami -o jsonpath={.status.userInfo.username}', 'kubernetes-admin'],
    ['auth can-i create deployments.apps', 'yes\n'],
    ["auth can-i '*' '*' --all-namespaces", 'yes\n'],
    ['auth can-i get /metrics', 'yes\n'],
  ])('%s', async (line, output) => {
    expect(await cluster.kubectl.ok(line)).toBe(output)
  })

  it('auth can-i --list', async () => {
    const row = (resources: string, urls: string, verbs: string) => `${resources.padEnd(48)}${urls.padEnd(20)}${'[]'.padEnd(17)}${verbs}\n`
    const health = ['/healthz', '/livez', '/readyz', '/version/', '/version']
    // Every user has the health paths by two roles, and kubectl shows both.
    const urls = ['/api/*', '/api', '/apis/*', '/apis', ...health.slice(0, 2).flatMap((url) => [url, url]), '/openapi/*', '/openapi', ...health.slice(2).flatMap((url) => [url, url])]
    expect(await cluster.kubectl.ok('auth can-i --list')).toBe(
      `${'Resources'.padEnd(48)}${'Non-Resource URLs'.padEnd(20)}${'Resource Names'.padEnd(17)}Verbs\n` +
        row('*.*', '[]', '[*]') + row('', '[*]', '[*]') + row('selfsubjectreviews.authentication.k8s.io', '[]', '[create]') +
        row('selfsubjectaccessreviews.authorization.k8s.io', '[]', '[create]') + row('selfsubjectrulesreviews.authorization.k8s.io', '[]', '[create]') +
        urls.map((url) => row('', `[${url}]`, '[get]')).join(''),
    )
  })
})

describe('kubectl top', () => {
  it('says that there is nobody to ask where no node runs', async () => {
    expect(await cluster.kubectl.ok('top pod')).toBe('')
    expect(await cluster.kubectl.refused('top node')).toBe('error: metrics not available yet\n')
  })
})

describe('kubectl get --raw', () => {
  it.each([
    ['/livez', /^ok$/],
    ['/readyz', /^ok$/],
    ['/healthz', /^ok$/],
    ['/livez/ping', /^ok$/],
    ['/readyz?verbose', /^\[\+\]ping ok\n(\[\+\]\S+ ok(: .+)?\n)*readyz check passed\n$/],
    ['/version', /"gitVersion": "v1\.36\.\d+\+coxswain\.[^"]+"/],
    ['/api', /"versions": ?\[\s*"v1"\s*\]/],
    ['/metrics', /^# HELP apiserver_/m],
  ])('%s', async (path, output) => {
    expect(await cluster.kubectl.ok(`get --raw ${path}`)).toMatch(output)
  })

  it('says that a path does not exist', async () => {
    expect(await cluster.kubectl.refused('get --raw /nope')).toBe('Error from server (NotFound): the server could not find the requested resource\n')
  })
})

describe('kubectl proxy', () => {
  it('passes requests on', async () => {
    const proxy = cluster.kubectl.start('proxy --port=0')
    const address = /127\.0\.0\.1:\d+/.exec(await proxy.nextLine())![0]
    const answer = await fetch(`http://${address}/api/v1/namespaces/default`)
    expect(await answer.json()).toMatchObject({ kind: 'Namespace', metadata: { name: 'default' } })
    await proxy.stop()
  })
})
