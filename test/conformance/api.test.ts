/** Our API against the recorded answers of a real Kubernetes server. */
import { expect, it } from 'vitest';
import { apiConformance, type Known } from './api/replay.ts';
import { serveMemory } from './api/serve-memory.ts';

/** Where we answer otherwise on purpose: the reason, and the steps that show it. */
const deliberate: Readonly<Record<string, readonly string[]>> = {
  'the status endpoint records no owners of metadata that it does not store': [
    'status/put changes only the status',
    'status/put that changes nothing',
    'status/put without status',
    'status/patch',
    'status/patch of metadata and spec',
    'status/patch with an invalid spec',
    'status/conditions',
    'status/json patch',
    'status/json patch of the spec',
    'status/main patch leaves the status',
    'status/as a table',
    'status/dry run',
    'status/at the end',
    'apply-status/spec in the body is ignored',
    'apply-status/the same manager on the main resource',
    'apply-status/status by update',
    'apply-status/dropped',
    'apply-status/at the end',
    'update-turns/status by put',
    'update-turns/status that is the same',
    'apply-turns/labels by apply of the status',
    'apply-turns/the same manager on both',
    'apply-turns/at the end',
  ],
  'a record that cannot be read is left out alone; the real server drops all of them and logs that this should not happen': [
    'tracking-nonsense/created with a bad apiVersion',
    'tracking-nonsense/created with another apiVersion',
  ],
  'a JSON patch that does not apply is told why; the real server says nothing': [
    'patch-json/a failed test',
    'patch-json/a test of nothing',
    'patch-json/beyond the end of a list',
    'patch-json/remove what is not there',
    'patch-json/add below what is not there',
    'patch-json/an unknown operation',
    'patch-json/no operation',
    'patch-json/no path',
    'patch-json/a path without slash',
    'patch-json/an old resourceVersion by test',
    'patch-words/move of nothing',
    'patch-words/move without from',
    'patch-words/escapes',
    'patch-words/a test of a list in another order',
    'patch-words/a test of a version that is old',
    'patch-words/an index that is none',
    'patch-words/removes the end of a list',
    'patch-words/replaces the end of a list',
    'patch-words/below a text',
    'patch-words/an operation in capitals',
    'patch-words/an operation that is null',
    'typed-patches/a failed test',
  ],
  'one problem is named once; the real server finds it twice': [
    'update-refused/deletionTimestamp cannot be set',
    'patch-merge/another uid',
    'apply-request/another uid',
    'delete-finalizers/a finalizer cannot be added',
    'delete-finalizers/the last finalizer cannot be replaced',
    'core-event/new with another reason',
    'patch-words/another uid',
    'patch-words/deletionTimestamp',
    'patch-words/a bad label',
    'update-turns/a put with a deletionTimestamp',
    'delete-turns/another finalizer',
    'delete-turns/another finalizer by put',
    'apply-turns/an owner without uid',
    'apply-turns/two controllers',
    'apply-turns/a finalizer while it is deleted',
    'typed-patches/another uid',
    'typed-patches/deletionTimestamp',
  ],
  'an object of another kind is refused for that; the real server goes on to apply rules it was not made for': [
    'create-identity/another kind',
    'create-identity/another version',
    'create-identity/a list',
    'update-refused/as another kind',
    'patch-merge/another apiVersion',
    'typed-patches/another kind',
    'typed-patches/another version',
  ],
  'there is no etcd whose prefix could be named': ['update-turns/a put with another uid', 'update-turns/status by put with another uid'],
  'a watch ends with the bookmark it may have, however short it was': ['forms/sendInitialEvents that is no boolean'],
  'repeated keys are named before unknown ones, which come as they were sent; for kinds that are Go types the real server mixes them': [
    'typed-bodies/JSON, Strict',
    'typed-bodies/JSON, Warn',
    'typed-bodies/YAML, Strict',
    'typed-bodies/YAML, Warn',
    'typed-bodies/put, Strict',
    'typed-bodies/put, Warn',
  ],
  'null means absent in every request; the real server takes it for a value in an apply that creates': ['apply-request/null'],
  'a refused object is not called by the name it would have got': ['create-names/a bad generateName'],
  'numbers are doubles, as in every JSON parser but that of Go': [
    'validation/an integer beyond 53 bits',
    'validation/an integer beyond 64 bits',
  ],
  'messages name the whole path of a field of the status': [
    'validation-rules/a status rule is an error of the status',
    'validation-rules/a date must be one',
  ],
  'what the client got wrong is 400; the real server says 500': [
    'delete/another kind of body',
    'delete/a body that is no JSON',
    'core-configmap/strategic patch, bad directive',
  ],
  'what cannot be given is 406; the real server says 500': [
    'accept/object as application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  ],
  'messages name kinds, not Go types': ['accept/list as application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'],
  'failures are JSON; we write no protobuf': ['accept/object as application/vnd.kubernetes.protobuf'],
  'nothing of a body is dropped silently': ['bodies/two YAML documents'],
  'no object may have a key that would change what it is in JavaScript': ['bodies/keys JavaScript knows'],
  'objects must fit in files that people edit: at most 100 levels': ['limits/deep'],
  'the object of the step before was refused': ['limits/a JSON patch that grows too much'],
  'nothing is below the status': ['get/too deep'],
  'kubectl up to 1.29 asks for it': ['discovery/aggregated v2beta1'],
  'JSON is called JSON, and can be cached': ['openapi/the index'],
  'relative, so that it holds behind a prefix of the path': ['openapi/the document by another hash'],
  'an unknown path is answered alike everywhere': ['openapi/a document that does not exist'],
  'says what is taken and answered: options of a deletion, the creation by an apply; no option that we do not have': [
    'openapi/delete of a collection',
    'openapi/delete of an object',
    'openapi/patch of an object',
  ],
  'a review is not stored, so nobody owns its fields': ['core/an access review'],
  'messages name the kind, which the real server forgets, and what is wanted': [
    'core/an access review of nothing',
    'core/an access review of both',
  ],
  'a version of the future belongs to another store, so the client must list again; the real server says nothing until the time is up': [
    'watch-errors/a version of the future',
  ],
};

const known: Known = Object.fromEntries(Object.entries(deliberate).flatMap(([reason, steps]) => steps.map((step) => [step, reason])));

apiConformance(serveMemory, known);

let plainRequests = 0;
const onPlain = () => {
  plainRequests += 1;
};
apiConformance(() => serveMemory({ onPlain }), known, ', also on the short way');

it('holds most of a conversation on the short way', () => {
  expect(plainRequests).toBeGreaterThan(1_000);
});
