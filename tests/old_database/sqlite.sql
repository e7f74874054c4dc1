PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE acts (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	person_id INTEGER, 
	kind VARCHAR(40) NOT NULL, 
	subject JSON NOT NULL, task_id VARCHAR(60), 
	CONSTRAINT pk_acts PRIMARY KEY (id), 
	CONSTRAINT fk_acts_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
INSERT INTO "acts" VALUES(1,'2026-11-25 16:45:36.737707',NULL,'task.saved','{"task": "sentiment", "version": 1}','sentiment');
INSERT INTO "acts" VALUES(2,'2026-11-25 16:45:36.830654',NULL,'task.saved','{"task": "nli", "version": 1}','nli');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0033');
CREATE TABLE announcements (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	text TEXT NOT NULL, 
	until DATETIME NOT NULL, 
	told INTEGER NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_announcements PRIMARY KEY (id), 
	CONSTRAINT fk_announcements_created_by FOREIGN KEY(created_by) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_announcements_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "announcements" VALUES(1,'nli','text of announcements','2026-01-02 03:04:05.000000',0,2,'2026-01-02 03:04:05.000000');
CREATE TABLE announcements_seen (
	announcement_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	CONSTRAINT pk_announcements_seen PRIMARY KEY (announcement_id, person_id), 
	CONSTRAINT fk_announcements_seen_announcement_id FOREIGN KEY(announcement_id) REFERENCES announcements (id) ON DELETE CASCADE, 
	CONSTRAINT fk_announcements_seen_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "announcements_seen" VALUES(1,2);
CREATE TABLE assignments (
	round_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	arm VARCHAR(40) NOT NULL, 
	place INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_assignments PRIMARY KEY (round_id, person_id), 
	CONSTRAINT fk_assignments_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_assignments_round_id FOREIGN KEY(round_id) REFERENCES rounds (id), 
	CONSTRAINT uq_assignments_round_id_place UNIQUE (round_id, place)
);
INSERT INTO "assignments" VALUES(1,2,'arm of assignments',1,'2026-01-02 03:04:05.000000');
CREATE TABLE assistances (
	example_id INTEGER NOT NULL, 
	shown INTEGER NOT NULL, 
	outcome VARCHAR(10) NOT NULL, 
	distance INTEGER, 
	provider VARCHAR(40) NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	text VARCHAR NOT NULL, 
	CONSTRAINT pk_assistances PRIMARY KEY (example_id), 
	CONSTRAINT fk_assistances_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "assistances" VALUES(1,1,'outcome of',NULL,'','','','');
CREATE TABLE attributions (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	method VARCHAR(40) NOT NULL, 
	label VARCHAR(200) NOT NULL, 
	fields JSON NOT NULL, 
	completeness_error DOUBLE, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_attributions PRIMARY KEY (id), 
	CONSTRAINT fk_attributions_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT uq_attributions_example_id_model_method_label UNIQUE (example_id, model, method, label)
);
INSERT INTO "attributions" VALUES(1,1,'model of attributions','method of attributions','label of attributions','{}',NULL,'2026-01-02 03:04:05.000000');
CREATE TABLE bans (
	task_id VARCHAR(60) NOT NULL, 
	person_id INTEGER NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_bans PRIMARY KEY (task_id, person_id), 
	CONSTRAINT fk_bans_by FOREIGN KEY("by") REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_bans_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE, 
	CONSTRAINT fk_bans_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "bans" VALUES('nli',7,'Spam.',NULL,'2026-11-25 16:45:37.428195');
CREATE TABLE breakdowns (
	round_id INTEGER NOT NULL, 
	name VARCHAR(10) NOT NULL, 
	value VARCHAR(100) NOT NULL, 
	counts BLOB NOT NULL, 
	CONSTRAINT pk_breakdowns PRIMARY KEY (round_id, name, value), 
	CONSTRAINT fk_breakdowns_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "breakdowns" VALUES(1,'none','none',X'00');
CREATE TABLE bulk_acts (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	value VARCHAR(1000) NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	undone_at DATETIME, 
	CONSTRAINT pk_bulk_acts PRIMARY KEY (id), 
	CONSTRAINT fk_bulk_acts_by FOREIGN KEY("by") REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_bulk_acts_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "bulk_acts" VALUES(1,'nli','kind of bu','',2,'2026-01-02 03:04:05.000000',NULL);
CREATE TABLE bulk_members (
	bulk_id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	CONSTRAINT pk_bulk_members PRIMARY KEY (bulk_id, example_id), 
	CONSTRAINT fk_bulk_members_bulk_id FOREIGN KEY(bulk_id) REFERENCES bulk_acts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_bulk_members_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "bulk_members" VALUES(1,1);
CREATE TABLE contexts (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	"values" JSON NOT NULL, 
	tag VARCHAR(100) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	draw INTEGER NOT NULL, 
	used INTEGER NOT NULL, 
	fooled INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, good INTEGER DEFAULT '0' NOT NULL, failed INTEGER DEFAULT '0' NOT NULL, doubt INTEGER DEFAULT '500' NOT NULL, weight DOUBLE DEFAULT '1' NOT NULL, clock DOUBLE DEFAULT '0' NOT NULL, retired_at DATETIME, 
	CONSTRAINT pk_contexts PRIMARY KEY (id), 
	CONSTRAINT fk_contexts_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT uq_contexts_task_id_digest UNIQUE (task_id, digest)
);
INSERT INTO "contexts" VALUES(18,'nli','{"premise": "Leila drove the first half of the way and slept through most of the second."}','travel','d04de10570f5168a5ae5afd220ff1b62871925852b9b71165787e1a7ff955edb',1747734543,1,1,'2026-11-25 16:45:36.851619',1,0,450,1.0,1.00838500679135445459e+00,NULL);
INSERT INTO "contexts" VALUES(102,'checks','{"premise": "Scene 9: Copper river ribbon orbit mirror walnut basket magnet cactus."}','c9','0000000000000000000000000000000000000000000000000000000000000013',9,0,0,'2026-11-25 16:45:49.357326',2,1,500,1.0,2.37270904305246776999e+00,NULL);
CREATE TABLE conversation_replies (
	turn_id INTEGER NOT NULL, 
	side INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	rating INTEGER, 
	first_ms DOUBLE, 
	whole_ms DOUBLE, 
	CONSTRAINT pk_conversation_replies PRIMARY KEY (turn_id, side), 
	CONSTRAINT fk_conversation_replies_turn_id FOREIGN KEY(turn_id) REFERENCES conversation_turns (id)
);
INSERT INTO "conversation_replies" VALUES(1,1,'','writing','',NULL,NULL,NULL);
CREATE TABLE conversation_turns (
	id INTEGER NOT NULL, 
	conversation_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	said TEXT NOT NULL, 
	"key" VARCHAR(100) NOT NULL, 
	request VARCHAR(64) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	attempt INTEGER NOT NULL, 
	stop BOOLEAN NOT NULL, 
	choice VARCHAR(10) NOT NULL, 
	continued INTEGER, 
	at DATETIME NOT NULL, 
	beat_at DATETIME NOT NULL, 
	chosen_at DATETIME, 
	CONSTRAINT pk_conversation_turns PRIMARY KEY (id), 
	CONSTRAINT fk_conversation_turns_conversation_id FOREIGN KEY(conversation_id) REFERENCES conversations (id), 
	CONSTRAINT uq_conversation_turns_conversation_id_key UNIQUE (conversation_id, "key"), 
	CONSTRAINT uq_conversation_turns_conversation_id_number UNIQUE (conversation_id, number)
);
INSERT INTO "conversation_turns" VALUES(1,1,1,'Good morning.','key of conversation_turns','request of conversation_turns','done',1,0,'',NULL,'2026-01-02 03:04:05.000000','2026-01-02 03:04:05.000000',NULL);
CREATE TABLE conversations (
	id INTEGER NOT NULL, 
	handout_id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	sides JSON NOT NULL, 
	example_id INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_conversations PRIMARY KEY (id), 
	CONSTRAINT fk_conversations_handout_id FOREIGN KEY(handout_id) REFERENCES handouts (id), 
	CONSTRAINT fk_conversations_round_id FOREIGN KEY(round_id) REFERENCES rounds (id), 
	CONSTRAINT fk_conversations_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_conversations_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT uq_conversations_example_id UNIQUE (example_id)
);
INSERT INTO "conversations" VALUES(1,1,1,2,'{}',1,'2026-01-02 03:04:05.000000');
CREATE TABLE cycle_candidates (
	turn_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	method VARCHAR(10) NOT NULL, 
	seed INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	reason TEXT NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	submission_id INTEGER, 
	seconds DOUBLE, 
	rows INTEGER, 
	CONSTRAINT pk_cycle_candidates PRIMARY KEY (turn_id, position), 
	CONSTRAINT fk_cycle_candidates_turn_id FOREIGN KEY(turn_id) REFERENCES cycle_turns (id) ON DELETE CASCADE, 
	CONSTRAINT fk_cycle_candidates_submission_id FOREIGN KEY(submission_id) REFERENCES submissions (id)
);
INSERT INTO "cycle_candidates" VALUES(1,1,'name of cycle_candidates','method of ',1,'waiting','','',1,NULL,NULL);
CREATE TABLE cycle_turns (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	round_id INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	step VARCHAR(10) NOT NULL, 
	"plan" JSON NOT NULL, 
	present JSON NOT NULL, 
	outside JSON NOT NULL, 
	report JSON NOT NULL, 
	reason TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	job_id VARCHAR(36), 
	next_id INTEGER, 
	back_id INTEGER, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_cycle_turns PRIMARY KEY (id), 
	CONSTRAINT fk_cycle_turns_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT fk_cycle_turns_round_id FOREIGN KEY(round_id) REFERENCES rounds (id), 
	CONSTRAINT fk_cycle_turns_next_id FOREIGN KEY(next_id) REFERENCES rounds (id) ON DELETE SET NULL, 
	CONSTRAINT fk_cycle_turns_back_id FOREIGN KEY(back_id) REFERENCES rounds (id) ON DELETE SET NULL, 
	CONSTRAINT fk_cycle_turns_created_by FOREIGN KEY(created_by) REFERENCES people (id) ON DELETE SET NULL
);
INSERT INTO "cycle_turns" VALUES(1,'done',3,'done','close','{}','[]','[]','{}','',1,NULL,NULL,NULL,NULL,'2026-11-25 16:45:44.002297',NULL);
CREATE TABLE dataset_versions (
	id INTEGER NOT NULL, 
	dataset_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	salt VARCHAR(64) NOT NULL, 
	rows INTEGER NOT NULL, 
	slices JSON NOT NULL, 
	reason TEXT NOT NULL, 
	job_id VARCHAR(36), 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_dataset_versions PRIMARY KEY (id), 
	CONSTRAINT fk_dataset_versions_created_by FOREIGN KEY(created_by) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_dataset_versions_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT uq_dataset_versions_dataset_id_number UNIQUE (dataset_id, number)
);
INSERT INTO "dataset_versions" VALUES(1,1,1,'ready','0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075','b1a52e854bb2c87d3acebe4aa6c0f0a44a7e113a6ed366853259786b1a80417a',40,'{}','',NULL,NULL,'2026-11-25 16:45:37.484586');
INSERT INTO "dataset_versions" VALUES(2,2,1,'ready','dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1','8a03135bbf30d186f2f1036cd2e597a99ae421a96b34199bdd7b6d6f1190ed67',40,'{}','',NULL,NULL,'2026-11-25 16:45:37.497370');
INSERT INTO "dataset_versions" VALUES(3,3,1,'ready','ca7fbd0dcb2d7bebb7b57b4459ad38c074ed68067738aa0ed4692c0191aba398','8958eac94aabc2aa95f41f919214b539be646c645821a12ab4967afecdad77e0',1,'{}','',NULL,NULL,'2026-11-25 16:45:43.617758');
INSERT INTO "dataset_versions" VALUES(6,6,1,'ready','992111e78dd87db64024f02a7bb81b2c2067b97448e36056f35a3bdebba1c922','da60c37775ae844624f9a069c019e6a84a188ab7c68b16c196b0629f72a3f278',2,'{"c7": 2, "start=blank": 2, "fooled": 2}','',NULL,NULL,'2026-11-25 16:45:50.293299');
INSERT INTO "dataset_versions" VALUES(7,7,1,'ready','2b254fde95dc974dfeba492b5863227f170ae6725e93930e929e865e8060ab63','c7dc791a32ddeadfdb91e25ea51d59ddd192109b23117119ba1f6a6b9aa137a9',2,'{"c3": 2, "start=blank": 2, "fooled": 2}','',NULL,NULL,'2026-11-25 16:45:50.310854');
CREATE TABLE datasets (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	name VARCHAR(62) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	card TEXT NOT NULL, 
	licence VARCHAR(100) NOT NULL, 
	source VARCHAR(500) NOT NULL, 
	languages JSON NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	visibility VARCHAR(10) NOT NULL, 
	round_id INTEGER, 
	weight INTEGER NOT NULL, 
	version_id INTEGER, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	retired_at DATETIME, 
	CONSTRAINT pk_datasets PRIMARY KEY (id), 
	CONSTRAINT fk_datasets_created_by FOREIGN KEY(created_by) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_datasets_round_id FOREIGN KEY(round_id) REFERENCES rounds (id), 
	CONSTRAINT fk_datasets_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT uq_datasets_task_id_name UNIQUE (task_id, name)
);
INSERT INTO "datasets" VALUES(1,'nli','first','First','','CC-BY-4.0','','[]','rows','public',NULL,5,1,NULL,'2026-11-25 16:45:37.483165',NULL);
INSERT INTO "datasets" VALUES(2,'nli','second','Second','','CC-BY-4.0','','[]','rows','public',NULL,5,2,NULL,'2026-11-25 16:45:37.497057',NULL);
INSERT INTO "datasets" VALUES(3,'nli','small','','','','','[]','rows','public',NULL,5,3,NULL,'2026-11-25 16:45:43.617380',NULL);
INSERT INTO "datasets" VALUES(6,'checks','round-1','Round 1, test part','The part test of the release of round 1.','CC-BY-4.0','','[]','round','public',4,5,6,NULL,'2026-11-25 16:45:50.278227',NULL);
INSERT INTO "datasets" VALUES(7,'checks','round-1-hidden','Round 1, hidden part','The part hidden of the release of round 1.','CC-BY-4.0','','[]','secret','hidden',NULL,5,7,NULL,'2026-11-25 16:45:50.310140',NULL);
CREATE TABLE dismissals (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	dismissed BOOLEAN NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_dismissals PRIMARY KEY (id), 
	CONSTRAINT fk_dismissals_by FOREIGN KEY("by") REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_dismissals_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "dismissals" VALUES(1,1,0,'reason of dismissals',2,'2026-01-02 03:04:05.000000');
CREATE TABLE evaluations (
	id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	version_id INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	attempt INTEGER NOT NULL, 
	rows INTEGER NOT NULL, 
	rows_done INTEGER NOT NULL, 
	code VARCHAR(30) NOT NULL, 
	reason TEXT NOT NULL, 
	log TEXT NOT NULL, 
	job_id VARCHAR(36), 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	ended_at DATETIME, 
	CONSTRAINT pk_evaluations PRIMARY KEY (id), 
	CONSTRAINT fk_evaluations_submission_id FOREIGN KEY(submission_id) REFERENCES submissions (id), 
	CONSTRAINT fk_evaluations_version_id FOREIGN KEY(version_id) REFERENCES dataset_versions (id), 
	CONSTRAINT uq_evaluations_submission_id_version_id UNIQUE (submission_id, version_id)
);
INSERT INTO "evaluations" VALUES(1,1,1,'done',1,40,40,'','','',NULL,'2026-11-25 16:45:37.524518','2026-11-25 16:45:37.523212','2026-11-25 16:45:37.523216');
INSERT INTO "evaluations" VALUES(2,1,2,'done',1,40,40,'','','',NULL,'2026-11-25 16:45:37.526675','2026-11-25 16:45:37.526489','2026-11-25 16:45:37.526491');
CREATE TABLE "examples" (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	context_id INTEGER NOT NULL, 
	handout_id INTEGER NOT NULL, 
	author_id INTEGER NOT NULL, 
	made_from INTEGER, 
	version_id INTEGER NOT NULL, 
	input JSON NOT NULL, 
	answer JSON NOT NULL, 
	fooled BOOLEAN, 
	source VARCHAR(10) NOT NULL, 
	start VARCHAR(10) NOT NULL, 
	attempt INTEGER NOT NULL, 
	seconds DOUBLE NOT NULL, 
	latency_ms DOUBLE NOT NULL, 
	"key" VARCHAR(100) NOT NULL, 
	request VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	uid VARCHAR(64) DEFAULT ('') NOT NULL, 
	arm VARCHAR(40) DEFAULT ('') NOT NULL, 
	edit_distance INTEGER, 
	CONSTRAINT pk_examples PRIMARY KEY (id), 
	CONSTRAINT fk_examples_made_from FOREIGN KEY(made_from) REFERENCES examples (id), 
	CONSTRAINT fk_examples_round_id FOREIGN KEY(round_id) REFERENCES rounds (id), 
	CONSTRAINT fk_examples_context_id FOREIGN KEY(context_id) REFERENCES contexts (id), 
	CONSTRAINT fk_examples_handout_id FOREIGN KEY(handout_id) REFERENCES handouts (id), 
	CONSTRAINT uq_examples_author_id_key UNIQUE (author_id, "key"), 
	CONSTRAINT fk_examples_version_id FOREIGN KEY(version_id) REFERENCES task_versions (id), 
	CONSTRAINT fk_examples_author_id FOREIGN KEY(author_id) REFERENCES people (id)
);
INSERT INTO "examples" VALUES(1,1,18,1,2,NULL,2,'{"hypothesis": "This is so."}','{"label": "contradiction"}',1,'person','blank',1,0.021706,4.21940700016421,'919e3b2be373418eb3769c6e575a918e','8b8ace99d4e993bfe2cd150e9b5b0bf7e17fdec9a5cbe563ad20d7cfe1187069','2026-11-25 16:45:43.540934','7356a5328c86485fb5c8c78e3189982f','',NULL);
INSERT INTO "examples" VALUES(40,4,102,40,20,NULL,14,'{"hypothesis": "Violin velvet pillow pocket ribbon orbit saddle signal harbour."}','{"label": "contradiction"}',0,'person','blank',1,30.0,1.0,'91','1da51b8d8ff98f6a48f80ae79fe3ca6c26e1abb7b7d125259255d6d2b875ea08','2026-03-01 09:41:07.750000','42862c4922314828baffd77990595b07','',NULL);
INSERT INTO "examples" VALUES(41,4,102,41,20,NULL,14,'{"hypothesis": "Candle harbour velvet orbit glacier anchor copper comet lantern."}','{"label": "entailment"}',1,'person','blank',1,3.066666666666666785e+01,1.0,'93','6e4001871c0cf27c7634ef1dc478408f642410fd3a444e2a88e301f5c4a35a4d','2026-03-01 09:41:22.250000','d591ba9423b348cc9b3b30cd23e89dc7','',NULL);
CREATE TABLE explanations (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	"values" JSON NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_explanations PRIMARY KEY (id), 
	CONSTRAINT fk_explanations_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "explanations" VALUES(1,1,'{}','2026-01-02 03:04:05.000000');
CREATE TABLE forks (
	slug VARCHAR(40) NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	note VARCHAR(1000) NOT NULL, 
	weights JSON NOT NULL, 
	person_id INTEGER, 
	made_at DATETIME NOT NULL, 
	CONSTRAINT pk_forks PRIMARY KEY (slug), 
	CONSTRAINT fk_forks_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_forks_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "forks" VALUES('slug of forks','nli','title of forks','','{}',2,'2026-01-02 03:04:05.000000');
CREATE TABLE handouts (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	context_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	goal JSON, 
	start VARCHAR(10) NOT NULL, 
	initial JSON NOT NULL, 
	at DATETIME NOT NULL, arm VARCHAR(40) DEFAULT '' NOT NULL, seed_id INTEGER, made_from INTEGER, link JSON, 
	CONSTRAINT pk_handouts PRIMARY KEY (id), 
	CONSTRAINT fk_handouts_context_id FOREIGN KEY(context_id) REFERENCES contexts (id), 
	CONSTRAINT fk_handouts_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_handouts_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "handouts" VALUES(1,1,18,2,'{"label": "contradiction"}','blank','{}','2026-11-25 16:45:43.519228','',NULL,NULL,'null');
INSERT INTO "handouts" VALUES(40,4,102,20,'null','blank','{}','2026-03-01 09:40:37.750000','',NULL,NULL,'null');
INSERT INTO "handouts" VALUES(41,4,102,20,'null','blank','{}','2026-03-01 09:40:51.583333','',NULL,NULL,'null');
CREATE TABLE hidings (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	hidden BOOLEAN NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_hidings PRIMARY KEY (id), 
	CONSTRAINT fk_hidings_by FOREIGN KEY("by") REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_hidings_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "hidings" VALUES(1,1,0,'',2,'2026-01-02 03:04:05.000000');
CREATE TABLE invitations (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	note VARCHAR(100) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	uses INTEGER NOT NULL, 
	most_uses INTEGER NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	revoked_at DATETIME, round_id INTEGER, 
	CONSTRAINT pk_invitations PRIMARY KEY (id), 
	CONSTRAINT fk_invitations_created_by FOREIGN KEY(created_by) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_invitations_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT uq_invitations_digest UNIQUE (digest)
);
INSERT INTO "invitations" VALUES(1,'nli','role of invitations','','digest of invitations',0,1,2,'2026-01-02 03:04:05.000000','2026-01-02 03:04:05.000000',NULL,NULL);
CREATE TABLE jobs (
	id VARCHAR(36) NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	payload JSON NOT NULL, 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	sent_at DATETIME, done JSON, due_at DATETIME, 
	CONSTRAINT pk_jobs PRIMARY KEY (id), 
	CONSTRAINT fk_jobs_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
INSERT INTO "jobs" VALUES('eefe2078-5955-4ec2-920c-920a97818d85','import_contexts','{"task": "nli", "person": 5, "file": "/srv/dynabench/uploads/file.jsonl", "name": "c.jsonl", "columns": null}',5,'2026-11-25 16:45:43.598054',NULL,'null',NULL);
INSERT INTO "jobs" VALUES('b0e95ceb-0c5c-4ddf-8f96-b7b2e5e33099','import_data','{"name": "some/data", "into": "examples", "format": "anli", "mapping": null, "hub": {"dataset": "some/data", "config": "", "split": "", "revision": ""}, "task": "nli", "person": 5}',5,'2026-11-25 16:45:43.612945',NULL,'null',NULL);
CREATE TABLE judgements (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	prediction_id INTEGER, 
	"by" VARCHAR(10) NOT NULL, 
	person_id INTEGER, 
	model VARCHAR(100) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	fooled BOOLEAN, 
	said JSON, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_judgements PRIMARY KEY (id), 
	CONSTRAINT fk_judgements_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT fk_judgements_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_judgements_prediction_id FOREIGN KEY(prediction_id) REFERENCES predictions (id)
);
INSERT INTO "judgements" VALUES(1,1,1,'by of judg',2,'','',NULL,'null','2026-01-02 03:04:05.000000');
CREATE TABLE labels (
	example_id INTEGER NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_labels PRIMARY KEY (example_id, name), 
	CONSTRAINT fk_labels_by FOREIGN KEY("by") REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_labels_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "labels" VALUES(1,'curious',2,'2026-01-02 03:04:05.000000');
CREATE TABLE mailings (
	id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	tries INTEGER NOT NULL, 
	reason VARCHAR(300) NOT NULL, 
	job_id VARCHAR(36), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_mailings PRIMARY KEY (id), 
	CONSTRAINT fk_mailings_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "mailings" VALUES(1,2,'notices','gathering',0,'',NULL,'2026-01-02 03:04:05.000000');
CREATE TABLE measured (
	round_id INTEGER NOT NULL, 
	state VARCHAR(64) NOT NULL, 
	examples INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	found JSON NOT NULL, 
	at DATETIME, 
	job_id VARCHAR(36), 
	CONSTRAINT pk_measured PRIMARY KEY (round_id), 
	CONSTRAINT fk_measured_round_id FOREIGN KEY(round_id) REFERENCES rounds (id) ON DELETE CASCADE
);
INSERT INTO "measured" VALUES(1,'',0,0,'{"writers": {"finding": "Nine writers", "figures": [{"name": "writers", "label": "Writers", "value": 9.0, "low": null, "high": null, "n": null, "kind": "number"}], "tables": [], "people": 9, "note": ""}}','2026-11-25 16:45:44.470854',NULL);
CREATE TABLE media (
	digest VARCHAR(64) NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	type VARCHAR(40) NOT NULL, 
	size INTEGER NOT NULL, 
	width INTEGER, 
	height INTEGER, 
	seconds DOUBLE, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_media PRIMARY KEY (digest)
);
INSERT INTO "media" VALUES('2815119bd3c54f65f3856970510a6bbae27959bbad4a57387af1ca7429a72855','image','image/png',78,12,8,NULL,'2026-11-25 16:45:44.204886');
CREATE TABLE media_uploads (
	id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	person_id INTEGER, 
	name VARCHAR(200) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_media_uploads PRIMARY KEY (id), 
	CONSTRAINT fk_media_uploads_digest FOREIGN KEY(digest) REFERENCES media (digest) ON DELETE CASCADE, 
	CONSTRAINT fk_media_uploads_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT fk_media_uploads_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL
);
INSERT INTO "media_uploads" VALUES(1,'2815119bd3c54f65f3856970510a6bbae27959bbad4a57387af1ca7429a72855','nli',NULL,'','2026-11-25 16:45:44.206609');
CREATE TABLE media_uses (
	id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	context_id INTEGER, 
	example_id INTEGER, 
	CONSTRAINT pk_media_uses PRIMARY KEY (id), 
	CONSTRAINT ck_media_uses_one CHECK ((context_id IS NULL) <> (example_id IS NULL)), 
	CONSTRAINT fk_media_uses_digest FOREIGN KEY(digest) REFERENCES media (digest), 
	CONSTRAINT fk_media_uses_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT fk_media_uses_context_id FOREIGN KEY(context_id) REFERENCES contexts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_media_uses_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "media_uses" VALUES(1,'2815119bd3c54f65f3856970510a6bbae27959bbad4a57387af1ca7429a72855','nli',18,NULL);
CREATE TABLE model_listings (
	name VARCHAR(100) NOT NULL, 
	visibility VARCHAR(10) NOT NULL, 
	keeper_id INTEGER, 
	note VARCHAR(500) NOT NULL, 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_model_listings PRIMARY KEY (name), 
	CONSTRAINT fk_model_listings_keeper_id FOREIGN KEY(keeper_id) REFERENCES people (id) ON DELETE SET NULL
);
INSERT INTO "model_listings" VALUES('name of model_listings','public',2,'','2026-01-02 03:04:05.000000');
CREATE TABLE near_bands (
	task_id VARCHAR(60) NOT NULL, 
	band BIGINT NOT NULL, 
	example_id INTEGER NOT NULL, 
	CONSTRAINT pk_near_bands PRIMARY KEY (task_id, band, example_id), 
	CONSTRAINT fk_near_bands_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
)
 WITHOUT ROWID

;
INSERT INTO "near_bands" VALUES('task_id of near_bands',1,1);
CREATE TABLE notes (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	text VARCHAR(1000) NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	removed_at DATETIME, 
	CONSTRAINT pk_notes PRIMARY KEY (id), 
	CONSTRAINT fk_notes_by FOREIGN KEY("by") REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_notes_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "notes" VALUES(1,1,'A note of the owner.',2,'2026-01-02 03:04:05.000000',NULL);
CREATE TABLE notice_wishes (
	person_id INTEGER NOT NULL, 
	address VARCHAR(254) NOT NULL, 
	verified_at DATETIME, 
	channels JSON NOT NULL, 
	problem VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_notice_wishes PRIMARY KEY (person_id), 
	CONSTRAINT fk_notice_wishes_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "notice_wishes" VALUES(2,'',NULL,'{}','');
CREATE TABLE notices (
	id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	text TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	seen_at DATETIME, link VARCHAR(200) DEFAULT '' NOT NULL, outside TEXT DEFAULT '' NOT NULL, mailing_id INTEGER, phrases JSON, 
	CONSTRAINT pk_notices PRIMARY KEY (id), 
	CONSTRAINT fk_notices_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "notices" VALUES(1,7,'ban','You may no longer write or check examples for Natural language inference: Spam.','2026-11-25 16:45:37.455674',NULL,'','',NULL,'{"text": null, "outside": null}');
CREATE TABLE people (
	id INTEGER NOT NULL, 
	username VARCHAR(40) NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	password_hash VARCHAR(200) NOT NULL, 
	pseudonym VARCHAR(40) NOT NULL, 
	admin BOOLEAN NOT NULL, 
	terms VARCHAR(20) NOT NULL, 
	agreed_at DATETIME NOT NULL, 
	created_at DATETIME NOT NULL, 
	deleted_at DATETIME, imported_as VARCHAR(64), language VARCHAR(12) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_people PRIMARY KEY (id)
);
INSERT INTO "people" VALUES(1,'mia','mia@example.org','$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus','',0,'2026-11','2026-11-25 16:45:33.123732','2026-11-25 16:45:33.125444',NULL,NULL,'');
INSERT INTO "people" VALUES(2,'ada','ada@example.org','$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus','',0,'2026-11','2026-11-25 16:45:33.157995','2026-11-25 16:45:33.175451',NULL,NULL,'');
INSERT INTO "people" VALUES(3,'eva','eva@example.org','$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus','',0,'2026-11','2026-11-25 16:45:33.199345','2026-11-25 16:45:33.200112',NULL,NULL,'');
INSERT INTO "people" VALUES(4,'moe','moe@example.org','$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus','',0,'2026-11','2026-11-25 16:45:33.208468','2026-11-25 16:45:33.209044',NULL,NULL,'');
INSERT INTO "people" VALUES(5,'olga','olga@example.org','$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus','',0,'2026-11','2026-11-25 16:45:33.236453','2026-11-25 16:45:33.236937',NULL,NULL,'');
INSERT INTO "people" VALUES(6,'root','root@example.org','$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus','',1,'2026-11','2026-11-25 16:45:33.238741','2026-11-25 16:45:33.262584',NULL,NULL,'');
INSERT INTO "people" VALUES(7,'bea','bea@example.org','$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus','',0,'2026-11','2026-11-25 16:45:33.264851','2026-11-25 16:45:33.265172',NULL,NULL,'');
INSERT INTO "people" VALUES(8,'person1','1@example.org','','',0,'1','2026-11-25 16:45:46.155341','2026-11-25 16:45:46.155662',NULL,NULL,'');
INSERT INTO "people" VALUES(9,'person2','2@example.org','','',0,'1','2026-11-25 16:45:46.156200','2026-11-25 16:45:46.156385',NULL,NULL,'');
INSERT INTO "people" VALUES(10,'person3','3@example.org','','',0,'1','2026-11-25 16:45:46.156624','2026-11-25 16:45:46.156794',NULL,NULL,'');
INSERT INTO "people" VALUES(11,'person4','4@example.org','','',0,'1','2026-11-25 16:45:46.157020','2026-11-25 16:45:46.157183',NULL,NULL,'');
INSERT INTO "people" VALUES(20,'person85','85@example.org','','',0,'1','2026-11-25 16:45:49.356240','2026-11-25 16:45:49.356706',NULL,NULL,'');
CREATE TABLE "predictions" (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	answer JSON NOT NULL, 
	probabilities JSON, 
	fooled BOOLEAN, 
	latency_ms DOUBLE NOT NULL, 
	CONSTRAINT pk_predictions PRIMARY KEY (id), 
	CONSTRAINT fk_predictions_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "predictions" VALUES(1,1,0,'nli-a','035b907a44a6c58f','{"label": "entailment"}','{"entailment": 0.8, "neutral": 0.1, "contradiction": 0.1}',1,4.142);
INSERT INTO "predictions" VALUES(40,40,0,'m','1','{"label": "contradiction"}','null',0,1.0);
INSERT INTO "predictions" VALUES(41,41,0,'m','1','{"label": "neutral"}','null',1,1.0);
CREATE TABLE proposals (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	source TEXT NOT NULL, 
	note VARCHAR(1000) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	person_id INTEGER NOT NULL, 
	decided_by INTEGER, 
	created_at DATETIME NOT NULL, 
	decided_at DATETIME, 
	CONSTRAINT pk_proposals PRIMARY KEY (id), 
	CONSTRAINT fk_proposals_decided_by FOREIGN KEY(decided_by) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_proposals_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "proposals" VALUES(1,'task_id of proposals','source of proposals','','waiting','',2,2,'2026-01-02 03:04:05.000000',NULL);
CREATE TABLE proposed (
	example_id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	version VARCHAR(60) NOT NULL, 
	queries INTEGER NOT NULL, 
	cost DOUBLE NOT NULL, 
	facts JSON NOT NULL, 
	CONSTRAINT pk_proposed PRIMARY KEY (example_id), 
	CONSTRAINT fk_proposed_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT fk_proposed_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "proposed" VALUES(1,1,'name of proposed','version of proposed',1,1.0,'{}');
CREATE TABLE records (
	evaluation_id INTEGER NOT NULL, 
	document JSON NOT NULL, 
	signature VARCHAR(128) NOT NULL, 
	made_at DATETIME NOT NULL, 
	CONSTRAINT pk_records PRIMARY KEY (evaluation_id), 
	CONSTRAINT fk_records_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
);
INSERT INTO "records" VALUES(1,'{"format": "dynabench-record-1", "evaluation": 1, "task": "nli", "model": {"name": "model-0", "version": "0000000000000000", "kind": "installed"}, "dataset": {"name": "first", "version": 1, "digest": "0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075", "rows": 40, "visibility": "public"}, "attempt": 1, "answered_at": "2026-11-25T16:45:45.647631+00:00", "asked": true, "rows": 40, "seeds": {"replicates": "0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075", "sample": "0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075"}, "batch_size": 32, "repeats": 3, "machine": {"processor": "AMD EPYC", "cores": 2, "memory_in_bytes": 25276502016, "threads": null, "accelerator": null, "platform": "Linux-6.18.44-fc-v669-x86_64-with-glibc2.36"}, "python": "3.11.7", "libraries": {"numpy": "2.4.6", "torch": "2.13.0+cpu", "transformers": "5.23.0", "peft": "0.21.2", "onnxruntime": "1.31.1", "safetensors": "0.8.0", "tokenizers": "0.23.3"}, "code": "0.1.0", "shards": [{"part": "rows", "number": 0, "first": 0, "rows": 20, "digest": "7834ec710038e8525cf7d24d6eacde7f2dd017664238de8a67128646918f40b7"}, {"part": "rows", "number": 1, "first": 20, "rows": 20, "digest": "55dfd4a3ba653c4bf92c33c90d5094da7c321b6c5d0f8e46b51300dab4168e07"}], "scores": [{"metric": "accuracy", "version": 1, "value": 0.875, "low": 0.75, "high": 0.975, "n": 40}, {"metric": "fairness", "version": 1, "value": 0.9, "low": 0.8, "high": 0.975, "n": 40}, {"metric": "robustness", "version": 1, "value": 0.95, "low": 0.875, "high": 1.0, "n": 40}, {"metric": "throughput", "version": 1, "value": 100.0, "low": 100.0, "high": 100.0, "n": 3}, {"metric": "memory", "version": 1, "value": 1.0, "low": 1.0, "high": 1.0, "n": 3}], "made_at": "2026-11-25T16:45:45.900567+00:00", "key": "fTGmIIvWfvhh0DiqLWIEj6PYbIJYQYQ1kgwERHPaygQ="}','vcrKMjQZOLDdWSbqEtd7yQdl+DZzaBWeVl/YqapLhMjdiVxX3b3TUodww5RTB2j3LP6ZZcadXNue+LUvkn4kAA==','2026-11-25 16:45:45.924460');
INSERT INTO "records" VALUES(2,'{"format": "dynabench-record-1", "evaluation": 2, "task": "nli", "model": {"name": "model-0", "version": "0000000000000000", "kind": "installed"}, "dataset": {"name": "second", "version": 1, "digest": "dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1", "rows": 40, "visibility": "public"}, "attempt": 1, "answered_at": "2026-11-25T16:45:45.755872+00:00", "asked": true, "rows": 40, "seeds": {"replicates": "dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1", "sample": "dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1"}, "batch_size": 32, "repeats": 3, "machine": {"processor": "AMD EPYC", "cores": 2, "memory_in_bytes": 25276502016, "threads": null, "accelerator": null, "platform": "Linux-6.18.44-fc-v669-x86_64-with-glibc2.36"}, "python": "3.11.7", "libraries": {"numpy": "2.4.6", "torch": "2.13.0+cpu", "transformers": "5.23.0", "peft": "0.21.2", "onnxruntime": "1.31.1", "safetensors": "0.8.0", "tokenizers": "0.23.3"}, "code": "0.1.0", "shards": [{"part": "rows", "number": 0, "first": 0, "rows": 20, "digest": "9074616bd77d27f49dcb62b4a63b386f3eb198aa0dc08e5cacc12658be437a93"}, {"part": "rows", "number": 1, "first": 20, "rows": 20, "digest": "a6f86500a5f25e77e92744747b2b2a03417d4fb936398467327a1b73c24bcc9d"}], "scores": [{"metric": "accuracy", "version": 1, "value": 0.85, "low": 0.725, "high": 0.95, "n": 40}, {"metric": "fairness", "version": 1, "value": 0.9, "low": 0.8, "high": 0.975, "n": 40}, {"metric": "robustness", "version": 1, "value": 0.925, "low": 0.825, "high": 1.0, "n": 40}, {"metric": "throughput", "version": 1, "value": 100.0, "low": 100.0, "high": 100.0, "n": 3}, {"metric": "memory", "version": 1, "value": 1.0, "low": 1.0, "high": 1.0, "n": 3}], "made_at": "2026-11-25T16:45:45.951134+00:00", "key": "fTGmIIvWfvhh0DiqLWIEj6PYbIJYQYQ1kgwERHPaygQ="}','31VOa2o8SP656q13GR9OHkG/Q5oO1158Cczza6b+SYyAx8hPz6sWcWksIBSsZAUmCR8RaI75SoBOmQcPVrw+BQ==','2026-11-25 16:45:45.957999');
CREATE TABLE refused_rows (
	job_id VARCHAR(36) NOT NULL, 
	"row" INTEGER NOT NULL, 
	message TEXT NOT NULL, 
	"values" JSON, 
	CONSTRAINT pk_refused_rows PRIMARY KEY (job_id, "row"), 
	CONSTRAINT fk_refused_rows_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
);
INSERT INTO "refused_rows" VALUES('eefe2078-5955-4ec2-920c-920a97818d85',1,'message of refused_rows','null');
CREATE TABLE released_examples (
	example_id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	part VARCHAR(10) NOT NULL, 
	CONSTRAINT pk_released_examples PRIMARY KEY (example_id), 
	CONSTRAINT fk_released_examples_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT fk_released_examples_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "released_examples" VALUES(40,4,'unverified');
INSERT INTO "released_examples" VALUES(41,4,'rejected');
CREATE TABLE releases (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	rules JSON NOT NULL, 
	anyway BOOLEAN NOT NULL, 
	report JSON NOT NULL, 
	manifest JSON NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	reason TEXT NOT NULL, 
	test_id INTEGER, 
	hidden_id INTEGER, 
	job_id VARCHAR(36), 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	released_at DATETIME, 
	CONSTRAINT pk_releases PRIMARY KEY (id), 
	CONSTRAINT fk_releases_created_by FOREIGN KEY(created_by) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_releases_hidden_id FOREIGN KEY(hidden_id) REFERENCES dataset_versions (id), 
	CONSTRAINT fk_releases_round_id FOREIGN KEY(round_id) REFERENCES rounds (id), 
	CONSTRAINT fk_releases_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT fk_releases_test_id FOREIGN KEY(test_id) REFERENCES dataset_versions (id), 
	CONSTRAINT uq_releases_round_id UNIQUE (round_id)
);
INSERT INTO "releases" VALUES(1,3,'done','ready','{}',0,'{}','{"format": "dynabench-release", "version": 1, "canary": "", "task": "done", "round": 1, "closed_at": "2026-01-01", "rules": {}, "examples": {}, "files": [{"path": "README.md", "bytes": 3, "sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356", "rows": null}, {"path": "data/test.jsonl", "bytes": 3, "sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356", "rows": null}]}','750e5112ed0c3d7713280e5726ff0c16042d0196458060d66761d81c6b180c01','',NULL,NULL,NULL,NULL,'2026-11-25 16:45:44.000284','2026-11-25 16:45:43.966859');
INSERT INTO "releases" VALUES(2,4,'checks','ready','{"train": 0.7, "dev": 0.1, "test": 0.1, "hidden": 0.1, "disjoint": ["writers", "contexts"], "unverified": "apart", "near_duplicate": 0.8, "seed": 0}',1,'{"parts": {"train": 14, "unverified": 10, "rejected": 10, "dev": 2, "hidden": 2, "test": 2}, "writers": {"train": 7, "unverified": 10, "rejected": 10, "dev": 1, "hidden": 1, "test": 1}, "labels": {"train": {"contradiction": 4, "entailment": 5, "neutral": 5}, "unverified": {"contradiction": 4, "entailment": 3, "neutral": 3}, "rejected": {"contradiction": 3, "entailment": 4, "neutral": 3}, "dev": {"contradiction": 1, "entailment": 1}, "hidden": {"entailment": 1, "neutral": 1}, "test": {"contradiction": 1, "neutral": 1}}, "duplicates": 0, "waiting": 0, "flags": 0, "disjoint": ["writers", "contexts"], "held": ["writers", "contexts"], "leaks": [{"part": "dev", "examples": 2, "writers": 0, "contexts": 0, "near_duplicates": 0}, {"part": "test", "examples": 4, "writers": 0, "contexts": 0, "near_duplicates": 0}], "findings": []}','{"format": "dynabench-release", "version": 1, "canary": "948cdfd0-c5aa-4654-aad7-b2bd47588112", "task": "checks", "round": 1, "closed_at": "2026-11-25T16:45:49.668406Z", "rules": {"train": 0.7, "dev": 0.1, "test": 0.1, "hidden": 0.1, "disjoint": ["writers", "contexts"], "unverified": "apart", "near_duplicate": 0.8, "seed": 0}, "examples": {"dev": 2, "hidden": 2, "rejected": 10, "test": 2, "train": 14, "unverified": 10}, "files": [{"path": "LICENSE.md", "bytes": 324, "sha256": "daac881f2d4b7172c0e615150aa864e8bb2961e69bd9d33276b533130048e564", "rows": null}, {"path": "README.md", "bytes": 3275, "sha256": "56295c1390f207706300e1786b4854a9c4287b7bc5d92073d144edaf1c7dffcd", "rows": null}, {"path": "croissant.json", "bytes": 46644, "sha256": "125923e16d82aad3a02e5843f6bc392be68ea1f03525f8c3c8a364952cc0eef6", "rows": null}, {"path": "data/dev.jsonl", "bytes": 2491, "sha256": "305272704e113b06b28bb696e89e7d0ed1e64ad2dd4b938d6d088c1d24d0b0fa", "rows": 2}, {"path": "data/dev.parquet", "bytes": 17651, "sha256": "c7fd3ba174e914cebdea36b1181162dc9b3239ee3103d324ac9a3e5cbb0eb762", "rows": 2}, {"path": "data/rejected.jsonl", "bytes": 12297, "sha256": "2aaa6f609a045fd1ef0ffebb383aee35651d8a232a9c744f19d49e34a5e1ed12", "rows": 10}, {"path": "data/rejected.parquet", "bytes": 18711, "sha256": "b98d3a898f219d7ddb2da452808c6d34691afd012afc025331802d7c2fda85bd", "rows": 10}, {"path": "data/test.jsonl", "bytes": 2493, "sha256": "692cd676f9563848293a752fcc44d7361085c334f4647112d972e0047e3c95f2", "rows": 2}, {"path": "data/test.parquet", "bytes": 17653, "sha256": "747653fced67b1e8a3cb459e7bd94e3e14b6d68e9df9289c2f2f58d3caf9c5db", "rows": 2}, {"path": "data/train.jsonl", "bytes": 17438, "sha256": "d4b8ea66e3dd4827a04856df8c5fda9eb736615c82059ae35f83e1a97b86366c", "rows": 14}, {"path": "data/train.parquet", "bytes": 18890, "sha256": "5c320eda88dfa9ae5b63a8d333e5af8c87b92ec0d0d464887b811bbe899c4042", "rows": 14}, {"path": "data/unverified.jsonl", "bytes": 9093, "sha256": "384a2b4ec2643f1a37fae05f7366c6c7803aaf616ac74f762272c82e3a03f7b8", "rows": 10}, {"path": "data/unverified.parquet", "bytes": 18218, "sha256": "501b75388e8bbab70223e9d803563fcbb66ea7ffe68558c1b5a8def88bcb57aa", "rows": 10}, {"path": "datasheet.md", "bytes": 3176, "sha256": "c80ce68c7a64cdac64222c121708389d89e0b397873bfdbbc4cf271dae535e31", "rows": null}, {"path": "eval.yaml", "bytes": 580, "sha256": "eb59fe6f39fe99f6ef26cb9394ff4eef31488742eede848307bab9cefab34ee7", "rows": null}, {"path": "round.json", "bytes": 518, "sha256": "6483076ca59673179ae580061b8860342189e437c24a954fad794748befcfc7b", "rows": null}, {"path": "task.yaml", "bytes": 473, "sha256": "5c31fc0db587352663d3f7a06653a280168be864af8b160999021299f987b903", "rows": null}]}','67e705818b9efbf6fc1b1f257ef75820d7db33b03ecb76ae980fc4802e7dc191','',6,7,NULL,NULL,'2026-11-25 16:45:49.755887','2026-11-25 16:45:50.359053');
CREATE TABLE reports (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	form VARCHAR(20) NOT NULL, 
	source VARCHAR(520) NOT NULL, 
	document JSON NOT NULL, 
	left_out INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	person_id INTEGER, 
	made_at DATETIME NOT NULL, 
	removed_at DATETIME, 
	CONSTRAINT pk_reports PRIMARY KEY (id), 
	CONSTRAINT fk_reports_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_reports_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "reports" VALUES(1,'nli','form of reports','source of reports','{}',0,'digest of reports',2,'2026-01-02 03:04:05.000000',NULL);
CREATE TABLE reservations (
	example_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	mode VARCHAR(10) NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_reservations PRIMARY KEY (example_id, person_id), 
	CONSTRAINT fk_reservations_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT fk_reservations_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
INSERT INTO "reservations" VALUES(1,2,'mode of re','2026-01-02 03:04:05.000000');
CREATE TABLE retractions (
	example_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_retractions PRIMARY KEY (example_id), 
	CONSTRAINT fk_retractions_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "retractions" VALUES(1,'2026-01-02 03:04:05.000000');
CREATE TABLE roles (
	task_id VARCHAR(60) NOT NULL, 
	person_id INTEGER NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	CONSTRAINT pk_roles PRIMARY KEY (task_id, person_id), 
	CONSTRAINT fk_roles_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE, 
	CONSTRAINT fk_roles_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "roles" VALUES('nli',2,'annotator');
INSERT INTO "roles" VALUES('nli',3,'expert');
INSERT INTO "roles" VALUES('nli',4,'moderator');
INSERT INTO "roles" VALUES('nli',5,'owner');
INSERT INTO "roles" VALUES('nli',7,'annotator');
INSERT INTO "roles" VALUES('done',5,'owner');
INSERT INTO "roles" VALUES('checks',8,'owner');
CREATE TABLE round_contexts (
	round_id INTEGER NOT NULL, 
	context_id INTEGER NOT NULL, 
	CONSTRAINT pk_round_contexts PRIMARY KEY (round_id, context_id), 
	CONSTRAINT fk_round_contexts_round_id FOREIGN KEY(round_id) REFERENCES rounds (id) ON DELETE CASCADE, 
	CONSTRAINT fk_round_contexts_context_id FOREIGN KEY(context_id) REFERENCES contexts (id) ON DELETE CASCADE
);
INSERT INTO "round_contexts" VALUES(1,18);
CREATE TABLE round_parents (
	round_id INTEGER NOT NULL, 
	parent_id INTEGER NOT NULL, 
	CONSTRAINT pk_round_parents PRIMARY KEY (round_id, parent_id), 
	CONSTRAINT fk_round_parents_round_id FOREIGN KEY(round_id) REFERENCES rounds (id) ON DELETE CASCADE, 
	CONSTRAINT fk_round_parents_parent_id FOREIGN KEY(parent_id) REFERENCES rounds (id) ON DELETE CASCADE
);
INSERT INTO "round_parents" VALUES(1,1);
CREATE TABLE round_people (
	round_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_round_people PRIMARY KEY (round_id, person_id), 
	CONSTRAINT fk_round_people_round_id FOREIGN KEY(round_id) REFERENCES rounds (id) ON DELETE CASCADE, 
	CONSTRAINT fk_round_people_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "round_people" VALUES(1,2,'2026-01-02 03:04:05.000000');
CREATE TABLE rounds (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	number INTEGER NOT NULL, 
	version_id INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	fooled_when VARCHAR(10) NOT NULL, 
	opened_at DATETIME, 
	closed_at DATETIME, 
	created_at DATETIME NOT NULL, arms JSON DEFAULT '[]' NOT NULL, assign VARCHAR(10) DEFAULT 'item' NOT NULL, seed INTEGER DEFAULT '0' NOT NULL, judge JSON, "plan" JSON DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_rounds PRIMARY KEY (id), 
	CONSTRAINT fk_rounds_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT fk_rounds_version_id FOREIGN KEY(version_id) REFERENCES task_versions (id), 
	CONSTRAINT uq_rounds_task_id_number UNIQUE (task_id, number)
);
INSERT INTO "rounds" VALUES(1,'nli',1,2,'open','any','2026-11-25 16:45:38.040411',NULL,'2026-11-25 16:45:37.975014','[]','item',501651836,'null','{}');
INSERT INTO "rounds" VALUES(2,'sentiment',1,1,'open','any','2026-11-25 16:45:38.145906',NULL,'2026-11-25 16:45:38.142787','[]','item',1902098351,'null','{}');
INSERT INTO "rounds" VALUES(3,'done',1,13,'released','any',NULL,'2026-11-25 16:45:43.964878','2026-11-25 16:45:43.966253','[]','item',1690677779,'null','{}');
INSERT INTO "rounds" VALUES(4,'checks',1,14,'released','any',NULL,'2026-11-25 16:45:49.668406','2026-11-25 16:45:46.154396','[]','item',1399890737,'null','{}');
CREATE TABLE scores (
	id INTEGER NOT NULL, 
	evaluation_id INTEGER NOT NULL, 
	metric VARCHAR(60) NOT NULL, 
	version INTEGER NOT NULL, 
	slice VARCHAR(200) NOT NULL, 
	value DOUBLE NOT NULL, 
	low DOUBLE, 
	high DOUBLE, 
	n INTEGER NOT NULL, 
	replicates BLOB, 
	made_at DATETIME NOT NULL, 
	CONSTRAINT pk_scores PRIMARY KEY (id), 
	CONSTRAINT fk_scores_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE, 
	CONSTRAINT uq_scores_evaluation_id_metric_slice UNIQUE (evaluation_id, metric, slice)
);
INSERT INTO "scores" VALUES(1,1,'accuracy',1,'',0.875,0.75,0.975,40,X'0000603F3333733FCDCC4C3FCDCC4C3FCDCC4C3F0000603F6666663F6666663F3333533F9A99593F6666663F3333533FCDCC6C3F9A99793F6666663F3333533F3333733F0000603F6666663F0000603F6666663F9A99793F3333733F3333533F3333733F0000603F6666663F6666663F9A99393FCDCC4C3F9A99593F3333533F0000603FCDCC6C3F6666663FCDCC6C3F6666663F3333533F0000603F9A99593F6666663F0000603F0000603FCDCC6C3F0000603F3333533FCDCC4C3F6666663F9A99593FCDCC6C3F3333533F0000603F0000603F9A99593F3333533F9A99593FCDCC6C3F6666663F0000403F9A99793F9A99593F9A99593F9A99593F9A99593F6666463FCDCC4C3F3333533FCDCC4C3F9A99593F0000603F9A99593F0000603F3333533F3333533FCDCC4C3F9A99593F3333533F6666663F9A99793F0000403F0000603F6666663FCDCC6C3F6666663F9A99593F0000603F0000603F0000603F6666663F3333733F9A99593F0000603FCDCC6C3F3333733F9A99393F3333533F0000603F6666663F3333733F3333733F3333733F9A99793FCDCC4C3FCDCC6C3F3333733F0000603F6666463F0000603FCDCC6C3FCDCC6C3F0000603F9A99593F0000603F6666663FCDCC6C3FCDCC6C3FCDCC6C3FCDCC6C3F6666663F9A99593F3333533F9A99593F3333533F9A99593F9A99593F0000603FCDCC4C3F6666663FCDCC6C3F6666663FCDCC6C3F6666663FCDCC4C3F9A99593F6666663F6666663FCDCC6C3F0000603F6666663FCDCC6C3F0000603F6666663F0000603F0000603FCDCC4C3F6666463F9A99593F9A99393F6666663FCDCC4C3F9A99593F0000603F6666663F3333733F0000603F9A99593FCDCC6C3F0000603F6666663F9A99593F9A99393F3333533FCDCC6C3F0000603FCDCC6C3F0000603F0000603F6666663F6666663F6666463F6666663F9A99593F0000603F3333533F9A99593F0000403F3333533F9A99393FCDCC4C3FCDCC6C3F0000603F3333533F0000603F0000603FCDCC6C3F9A99593F3333533F0000603F0000603F6666663F3333533F6666663F0000603F9A99593FCDCC6C3F6666463F0000603F9A99593F9A99793F3333533FCDCC6C3F0000603FCDCC6C3F6666663FCDCC6C3F6666663F6666663F9A99593F9A99793F3333733F0000403F9A99593FCDCC6C3F3333533F6666463F6666663FCDCC6C3F0000603F3333533F3333533FCDCC4C3F3333533F6666663F3333533F6666663F6666463F0000603F3333733FCDCC4C3F3333533F0000803F0000603F3333533FCDCC6C3F0000603FCDCC6C3F6666463F9A99593F0000603F3333533F9A99793F9A99593F0000603F6666663F3333533FCDCC6C3F3333533F9A99593FCDCC4C3F0000603F6666663F9A99593F3333533FCDCC6C3F9A99793FCDCC6C3F9A99593F3333533F3333733FCDCC6C3F6666663F3333733F9A99593FCDCC4C3FCDCC6C3FCDCC4C3FCDCC4C3F0000603F0000603F0000603F6666663F6666663F6666663F6666663F0000603F9A99593F6666463F3333533FCDCC4C3FCDCC4C3F0000603FCDCC6C3F0000603FCDCC6C3F9A99593F3333733F9A99593F6666663F0000603F6666663FCDCC6C3F3333533F9A99593FCDCC6C3F6666663FCDCC4C3F6666663FCDCC6C3FCDCC6C3F3333533F0000603F9A99593F9A99593F0000603FCDCC6C3F9A99593F0000603F9A99593FCDCC4C3F3333533F9A99593FCDCC6C3F3333733F3333733F0000603F6666663F6666463F3333533F3333533F0000603F0000603F9A99793F6666663F9A99593FCDCC6C3F0000403F0000603FCDCC6C3F3333533F3333733F6666463F9A99793F9A99593F0000603F9A99793F0000603F0000603F0000603FCDCC6C3F0000603FCDCC4C3F0000603F0000603F0000603F6666663F9A99593F3333533F9A99593F3333533F3333533F6666663F6666663F0000603F3333733F6666663F0000603F9A99593F6666463F6666463F6666663FCDCC6C3FCDCC6C3FCDCC6C3F6666663F0000603F9A99593F0000403F6666663F9A99593F9A99593FCDCC6C3F9A99593F0000603F9A99593F0000603F3333533F0000603F3333533F3333533F0000603F0000603FCDCC4C3F9A99593F6666463FCDCC4C3FCDCC6C3F9A99593F9A99593FCDCC4C3FCDCC4C3F6666663F6666663F0000603F3333533F6666663F6666663F3333533F0000603F3333533F6666663F0000603FCDCC4C3F0000603F3333533F9A99793F0000603FCDCC6C3F0000603F0000603F0000603F6666663F9A99593F6666663F3333533FCDCC6C3F0000603F9A99593F0000603FCDCC6C3F6666663FCDCC4C3FCDCC6C3FCDCC4C3F0000603F0000603F6666663F9A99593F3333733F9A99393F6666663F0000603FCDCC6C3F0000603F9A99593F6666663F9A99593F0000603F0000603F3333733FCDCC6C3F6666463F9A99593F0000603FCDCC6C3F0000603F6666463FCDCC4C3F6666463F3333533FCDCC6C3F3333533F3333733FCDCC6C3F3333533F9A99593F3333333F6666663F0000603F3333733F6666463F3333533F9A99593F6666663F6666663F9A99793F9A99593FCDCC6C3F3333733F9A99593FCDCC6C3F0000603F0000603F0000803F0000603F6666463F6666663F0000603F6666663F3333733F0000603F9A99793F6666663FCDCC6C3F3333733FCDCC4C3FCDCC6C3F9A99593F3333533F9A99393F6666663F3333533FCDCC6C3F0000603F3333533F3333533F6666663F0000603F9A99793F0000603F6666663F0000603F9A99593F6666463F3333733F6666663F0000603F3333733FCDCC6C3F6666663F0000603FCDCC6C3F0000603F9A99593F9A99593F6666663F0000403FCDCC6C3F9A99593FCDCC4C3F9A99793FCDCC6C3F6666663F3333533FCDCC6C3F3333533F3333533FCDCC6C3F0000603FCDCC6C3F6666663F3333533F6666663F9A99593F6666663FCDCC6C3F9A99593FCDCC6C3F0000603F6666663F6666663F3333533F0000603F0000603FCDCC4C3F9A99593FCDCC4C3FCDCC6C3F6666663F3333533F0000603FCDCC4C3F3333733F9A99593F0000603F9A99593FCDCC4C3F6666663F6666663F3333733F9A99593FCDCC6C3F9A99593F0000603F3333533F0000603FCDCC4C3F9A99793F3333533F0000603F0000603FCDCC6C3F6666463FCDCC6C3F3333533F0000603FCDCC6C3F6666663FCDCC6C3F9A99593F6666663F9A99593F3333533F0000603FCDCC4C3F3333733F3333533F0000603F9A99593F3333733FCDCC6C3FCDCC6C3F6666663F0000603F9A99593F3333533F3333533F3333533F3333733F6666663F9A99593F9A99593F9A99793F0000603F9A99593F6666663F3333533FCDCC4C3F3333533F6666463F0000803F6666663F6666663FCDCC6C3FCDCC6C3F6666663FCDCC4C3FCDCC4C3F6666663F3333533F6666663FCDCC4C3F9A99793FCDCC4C3F6666663F9A99593F6666663F6666663F0000403F6666663F6666663F6666663FCDCC4C3F9A99593FCDCC4C3F3333533F6666663FCDCC6C3F9A99593F6666663F6666663F0000603F3333533F6666663F9A99593F6666663FCDCC6C3FCDCC6C3F0000603F3333533F9A99593F9A99593F6666663F3333733F6666663FCDCC4C3F3333533FCDCC6C3F9A99593F3333533F3333533F0000603FCDCC6C3F6666663F0000603F6666663FCDCC6C3F9A99593FCDCC6C3F6666663F0000603F9A99593FCDCC6C3F9A99593F9A99593F0000603F3333533F6666463F0000603F6666463F0000603F0000603F3333533F6666663FCDCC4C3F3333733FCDCC6C3FCDCC4C3FCDCC4C3FCDCC6C3F3333533F0000603F6666663F9A99793F6666663F3333533F3333533F6666663F3333733F0000603F3333533F0000403FCDCC4C3FCDCC6C3F9A99793F0000603F0000603F0000603F6666663F3333533F9A99593F9A99593F0000603F0000603F6666663F3333533FCDCC6C3F9A99593F0000603FCDCC6C3F6666663F6666663F9A99593F3333733F9A99593F3333733F9A99593F0000603F6666663F3333533F6666663F3333533F3333733F3333733FCDCC6C3F6666663F3333533F3333733F9A99593FCDCC4C3F9A99793F6666663F6666663F9A99793F0000803F9A99593F0000603F6666663F3333533F9A99593F0000603F9A99593F6666463F6666663F0000603F3333733F3333733F0000603F0000603F3333533F9A99593F6666463F9A99793F9A99593F9A99593F3333733F3333733FCDCC4C3F0000603F0000603F0000603F9A99593F0000603FCDCC4C3F0000603F9A99593F6666663F6666663F6666663F6666663F9A99593F9A99593F6666663F9A99593F3333733F9A99593F6666663F3333733F3333533F6666663F6666463F9A99793FCDCC4C3F6666663FCDCC6C3F0000403F0000603FCDCC4C3FCDCC6C3F6666663F3333533F6666663F3333733FCDCC6C3F6666663F9A99593F9A99593F6666663F6666663F0000403F3333533F3333533F0000603F0000603F0000603F6666663F9A99593F6666663F9A99793F0000603F3333533F0000603F3333733F6666663F6666663F3333533F3333533F6666663F6666663F3333533FCDCC6C3FCDCC4C3F6666663F9A99793F3333733F0000603F9A99593F6666663F0000603F9A99593F3333533F9A99793F0000603F3333733FCDCC6C3F0000603F0000603F0000803FCDCC6C3F6666663F3333533F0000603F3333733F6666663F0000603F3333733F3333733FCDCC6C3FCDCC6C3F9A99793F6666663FCDCC6C3F6666463F0000603F6666663F3333533F6666663F0000603F0000603F9A99593F9A99593F3333533FCDCC4C3F0000603FCDCC6C3F3333533F0000603F9A99593F0000603F9A99593FCDCC4C3F9A99393F9A99593F0000603F6666663F9A99793F0000403F6666663F6666663F0000603F6666663F3333733F0000603FCDCC6C3F9A99593FCDCC4C3F9A99593F0000603F0000603F6666663F9A99593F9A99593FCDCC6C3FCDCC6C3F0000603F0000803F3333733F0000603F3333533F6666463F6666663FCDCC6C3FCDCC6C3F9A99593F0000603FCDCC6C3F6666663F3333533FCDCC6C3FCDCC6C3F9A99593FCDCC4C3F6666663FCDCC6C3F3333733F6666663FCDCC6C3F0000603F6666663F9A99793F6666663F6666663F9A99593FCDCC6C3F0000603F3333733F0000603F3333533F9A99593FCDCC6C3FCDCC6C3F3333533F9A99593F0000603F6666463F9A99593F0000603F6666663F0000403F9A99593F9A99793F6666663F9A99593F6666663F9A99593F0000403F0000603F3333533F6666663F9A99593FCDCC6C3F0000603F6666663F9A99593FCDCC4C3FCDCC6C3F3333533FCDCC4C3F6666663F3333533F9A99593FCDCC6C3F0000603F0000603F3333533F0000603F6666663F9A99393F6666663F0000603F0000603F6666663FCDCC6C3FCDCC6C3FCDCC6C3F0000403F3333533F6666663F0000603FCDCC4C3F3333533F0000403FCDCC4C3FCDCC6C3F0000603F9A99593F0000603FCDCC6C3F9A99793F9A99593F9A99593F','2026-11-25 16:45:37.529784');
INSERT INTO "scores" VALUES(2,1,'fairness',1,'',0.9,0.8,0.975,40,X'CDCC6C3F9A99593F9A99793F9A99793F6666663F0000603FCDCC6C3F3333733F0000603F9A99593F0000603F3333533F0000603FCDCC4C3FCDCC4C3F3333733F6666663F0000603F6666663F0000603FCDCC6C3F6666463F6666663F0000403F6666663F0000603F0000603F9A99793F3333733FCDCC6C3F3333733F9A99793F3333533F3333733F9A99593F3333533F3333533F9A99793F9A99593F3333733F3333533F3333733F0000603FCDCC6C3F6666663F9A99593F9A99793F0000603FCDCC6C3F3333733F9A99793F6666663F0000603F9A99593F6666663F3333733FCDCC6C3F9A99593F0000603F6666663F6666663F3333733FCDCC6C3F0000803F3333733FCDCC6C3F9A99593F0000603F0000603FCDCC6C3FCDCC6C3F6666463F3333733F0000603F6666663F9A99593F3333733FCDCC4C3FCDCC6C3F0000803FCDCC6C3FCDCC6C3F9A99593F6666663F6666663F0000603F3333533FCDCC6C3F9A99593F6666663F0000603FCDCC6C3F3333733F6666463F0000603F3333733F6666663F9A99593F9A99793F0000603F6666663F9A99593F6666463F9A99593F6666663FCDCC6C3FCDCC6C3FCDCC4C3FCDCC6C3F6666663FCDCC6C3F0000603FCDCC6C3FCDCC6C3FCDCC6C3F6666663FCDCC6C3F6666663FCDCC6C3F3333733FCDCC6C3FCDCC6C3F0000603FCDCC6C3F0000603F3333733F9A99793F3333533F3333733F9A99793F0000603F6666663F6666663FCDCC6C3F0000603F3333533F6666663F9A99793F9A99593F0000603F0000603F0000603F6666663F6666663F3333733F3333733FCDCC6C3F6666663F0000603F0000603F9A99793F6666663F6666663F6666663FCDCC6C3F0000603F3333733F6666663FCDCC6C3F0000603F6666463F3333533F6666663F9A99793F9A99793F6666663F6666663F3333733F6666663F0000603F3333733FCDCC6C3F6666663FCDCC6C3F9A99793F9A99593F9A99793F6666663F9A99593F3333533F9A99593F6666663FCDCC6C3F0000603FCDCC4C3F3333733F6666663F3333533F6666663F0000603F6666663F9A99793FCDCC6C3FCDCC6C3F3333533F0000603F9A99593F9A99593F3333733F9A99593F9A99793F9A99593F9A99793F3333733F6666663F0000803FCDCC6C3FCDCC4C3FCDCC6C3F0000603F9A99593F3333533F0000603F0000603F9A99593FCDCC6C3F6666663F3333733F3333533F6666663F9A99593FCDCC6C3F3333533F9A99593F0000603F3333733F3333733F3333733FCDCC6C3F9A99793F3333733F6666663FCDCC6C3F6666663FCDCC6C3F3333733F6666663FCDCC6C3FCDCC6C3F6666663FCDCC6C3F6666663F0000603FCDCC6C3F0000603FCDCC6C3F3333733F6666663F3333733F3333733FCDCC4C3FCDCC4C3F9A99793FCDCC6C3F9A99593F6666663F9A99793F0000603F3333533FCDCC6C3FCDCC6C3F6666663F9A99593F3333733FCDCC6C3F0000603F9A99593FCDCC6C3F9A99593F0000603F0000603F0000403F6666663FCDCC4C3FCDCC6C3F3333733FCDCC6C3F0000603FCDCC6C3F9A99593F3333533F6666663F0000603F3333533FCDCC6C3F6666663FCDCC6C3F3333733F6666663F3333533F3333733F0000603F9A99593F9A99793F9A99593F9A99793F0000603FCDCC6C3F6666663F9A99793F0000603FCDCC6C3FCDCC6C3F9A99793F9A99793FCDCC6C3F3333733F9A99593F3333733F6666663F6666663FCDCC4C3F0000603F6666663F6666663F6666663F6666663F0000403F9A99593FCDCC6C3F9A99593F9A99593F9A99793FCDCC6C3F3333533FCDCC6C3F9A99593FCDCC6C3FCDCC6C3F3333733F3333533F9A99593F3333733F9A99593F0000603F9A99793F0000603F3333533F0000603FCDCC6C3F6666463F3333733F3333733FCDCC6C3F6666663F6666663F6666663F0000603FCDCC4C3F9A99793F9A99593F6666663FCDCC6C3F6666663F9A99593F3333733F6666663F3333733FCDCC6C3F6666663F9A99593F6666663F3333733FCDCC6C3F0000603FCDCC6C3FCDCC6C3FCDCC6C3FCDCC6C3F6666663FCDCC6C3F6666663F9A99793F9A99593F0000603F9A99593F3333733FCDCC6C3F3333533F9A99593F6666663F6666663FCDCC6C3FCDCC6C3F6666663F3333733F9A99793F6666663F0000603F6666463FCDCC6C3F6666663F9A99593F6666663F3333733F6666663F0000603F9A99793FCDCC6C3FCDCC6C3F3333733F9A99593F9A99593F0000603FCDCC6C3FCDCC6C3FCDCC6C3F3333533F9A99793F3333533FCDCC6C3F0000603F0000603F6666663F6666463F3333533F6666663F6666463F0000603F6666663F6666663F0000603F3333733FCDCC6C3F3333533F0000803F9A99593F6666663F0000803FCDCC6C3F6666663F0000603F6666663FCDCC6C3F0000603FCDCC6C3F6666663F9A99793FCDCC6C3FCDCC6C3F9A99793F6666663FCDCC6C3F6666663F9A99793F6666663FCDCC6C3F6666663F3333733F6666663F9A99793FCDCC4C3F0000603F3333733FCDCC6C3FCDCC6C3F9A99593F3333533F3333533FCDCC4C3F6666463F0000803F6666663F6666663F0000603FCDCC6C3F3333533F6666663F0000603FCDCC6C3F9A99593F3333533F3333533FCDCC6C3FCDCC6C3F9A99593F6666663F9A99593F9A99593F3333733F3333533F3333733F9A99593F3333533F3333533F0000803F9A99593F3333533F0000603FCDCC6C3F3333733F0000603F9A99793F9A99793FCDCC6C3F9A99793FCDCC6C3F0000603FCDCC6C3FCDCC6C3F0000603FCDCC6C3F0000603F9A99593F6666663F6666663F0000603F9A99593F9A99793F6666663FCDCC4C3F0000603FCDCC6C3F9A99793F3333733F0000603F3333733F3333733F3333533F6666663FCDCC4C3F3333733FCDCC4C3F6666663F3333733F6666463F6666663F6666663F0000603FCDCC6C3F9A99793F0000603F0000603FCDCC6C3F3333733F3333533F6666663F3333733FCDCC6C3F6666663FCDCC6C3F9A99593FCDCC6C3F3333533F0000603F0000603FCDCC6C3F0000603F3333733FCDCC6C3F0000603F6666663F6666663FCDCC6C3F6666663F0000603F3333733F6666663FCDCC6C3FCDCC6C3FCDCC6C3FCDCC6C3FCDCC6C3F3333733F6666663F6666663F3333733FCDCC6C3F3333733F6666663F9A99593F0000603FCDCC6C3FCDCC6C3F0000603F6666663F6666663F0000603F9A99593FCDCC6C3F3333533FCDCC4C3F9A99593F9A99593F3333733F0000603FCDCC4C3F0000603F6666463F9A99793F3333733F6666663F3333733F3333533F0000603F0000603F0000603FCDCC6C3F3333533F3333733F3333733F6666663F0000603F9A99793F3333733F6666663FCDCC6C3FCDCC6C3FCDCC6C3F9A99793F3333533FCDCC4C3F6666663F3333733F9A99593F0000603FCDCC6C3F9A99593F3333733F3333733F9A99593FCDCC6C3F3333533F6666663F3333733F9A99593FCDCC6C3F6666663F9A99593F0000603F3333733F0000603F9A99793F3333733F6666663F9A99593FCDCC6C3FCDCC6C3F9A99593F9A99593F3333733F6666663F6666663FCDCC6C3F6666663F3333733F6666663F3333733F3333733F3333733F0000603F6666663F3333733F6666663F0000603F9A99593FCDCC6C3FCDCC6C3F6666663FCDCC6C3F6666663F9A99793F3333733F3333533F6666663F3333733F9A99793F9A99593F0000803F9A99593FCDCC6C3F3333733FCDCC6C3F9A99793F0000603F9A99793F9A99593FCDCC6C3FCDCC6C3F6666663F3333733F3333733FCDCC6C3F3333533F9A99793F9A99593F6666663FCDCC6C3F9A99593F6666663F0000603F0000803F3333533F0000603F3333733FCDCC6C3F9A99793F6666663F6666663FCDCC6C3F6666663F0000803F9A99593F0000603F9A99793FCDCC6C3F3333533F3333733FCDCC6C3FCDCC6C3FCDCC6C3FCDCC6C3FCDCC6C3F0000603F3333533F3333533FCDCC6C3F9A99593FCDCC6C3F9A99593F0000603F3333533F6666663FCDCC6C3FCDCC4C3F0000603F9A99593F0000603F9A99393F9A99593F3333733F3333733F0000603F3333733F3333733FCDCC6C3F9A99793F3333733F0000603FCDCC6C3F6666663F6666663F0000603FCDCC6C3F6666663F3333533FCDCC6C3FCDCC6C3F9A99793FCDCC6C3F9A99593F6666463F6666663F6666663F9A99593F9A99593F9A99793FCDCC6C3F6666663F3333533FCDCC6C3F0000603FCDCC6C3F3333733FCDCC6C3F9A99793F0000603F9A99593F0000603FCDCC6C3F9A99793F6666663F9A99793F0000603FCDCC6C3F3333733F0000603F3333733F6666663F9A99593FCDCC6C3FCDCC6C3F0000603FCDCC6C3F3333733F3333533F3333533F0000603F6666663F6666663F6666663F0000403FCDCC6C3FCDCC6C3F0000603F6666663F9A99593F3333733F0000603FCDCC6C3FCDCC6C3F6666663F3333733F3333533F0000603F3333733FCDCC6C3F3333733F9A99793F6666663F0000603F6666663FCDCC6C3F6666663F6666663F3333733F6666663FCDCC6C3F0000603F3333733F0000603F3333533FCDCC6C3F0000603FCDCC6C3FCDCC6C3F0000603F9A99593F6666663F6666663FCDCC6C3F9A99793F9A99593FCDCC6C3F0000603F6666663F0000603F0000803FCDCC6C3F0000603F6666663FCDCC6C3F0000603F3333533FCDCC6C3FCDCC6C3F6666663F3333733F6666663F9A99593F6666663FCDCC6C3F3333733F6666663F9A99593FCDCC6C3F0000603F9A99593F9A99593F6666663FCDCC6C3FCDCC4C3F6666663F6666463F0000603F6666663F9A99593F6666663F6666663F6666663F0000803F3333533F3333533F0000603F9A99593F0000603F6666663F9A99593FCDCC4C3F9A99593F0000603F6666663F9A99593F6666663F6666663F9A99793F3333733FCDCC6C3F0000603F0000603F9A99793F6666663F0000603FCDCC6C3F6666663F3333533F3333733F0000603F6666463FCDCC6C3F0000403F0000603F3333733FCDCC6C3FCDCC6C3F3333733FCDCC6C3F9A99593F0000603F6666663F9A99593F0000603FCDCC6C3F0000603F9A99593F0000603F9A99593F6666663F9A99593F0000603F3333733FCDCC6C3F3333533F3333533FCDCC6C3F6666663F6666663F9A99793F0000603F0000603F9A99593F3333733FCDCC6C3F6666663F6666663FCDCC6C3FCDCC6C3F6666663F3333733F9A99793F6666663F6666663F6666663F0000603F3333733F3333533F9A99793F9A99793F9A99593F6666663FCDCC6C3F3333733F6666663F0000603F0000603F6666663FCDCC4C3FCDCC6C3F3333733F0000603F3333733FCDCC6C3F0000603FCDCC6C3FCDCC4C3F0000603FCDCC6C3F3333733F3333733F9A99593FCDCC6C3F6666663F6666663F9A99593F6666663F3333733F9A99793F0000603FCDCC6C3F6666663F6666663F6666663F9A99593F6666663F0000603F9A99593F0000603F0000603F6666663FCDCC6C3F3333733F0000603F0000603F6666663F9A99593F9A99793F3333733F9A99593F3333733F0000603F','2026-11-25 16:45:37.529787');
CREATE TABLE search_news (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	terms TEXT NOT NULL, 
	CONSTRAINT pk_search_news PRIMARY KEY (id), 
	CONSTRAINT fk_search_news_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "search_news" VALUES(1,1,'leila drove the first half of way and slept through most second this is so contradiction _task_nli _author_2 _round_1 _fooled_yes _source_person _start_blank _arm_u_e4a6a0577479b2b4 _tag_travel _made_no _verdict_pending _retracted_no _hidden_no _flagged_no _perturbed_no _review_none _noted_no _day_2026_11_25 _month_2026_11 _year_2026');
INSERT INTO "search_news" VALUES(69,40,'scene 9 copper river ribbon orbit mirror walnut basket magnet cactus violin velvet pillow pocket saddle signal harbour contradiction _task_checks _author_20 _round_1 _fooled_no _source_person _start_blank _arm_u_e4a6a0577479b2b4 _tag_c9 _made_no _verdict_pending _retracted_no _hidden_no _flagged_no _perturbed_no _review_none _noted_no _day_2026_03_01 _month_2026_03 _year_2026');
INSERT INTO "search_news" VALUES(70,41,'scene 9 copper river ribbon orbit mirror walnut basket magnet cactus candle harbour velvet glacier anchor comet lantern entailment _task_checks _author_20 _round_1 _fooled_yes _source_person _start_blank _arm_u_e4a6a0577479b2b4 _tag_c9 _made_no _verdict_pending _retracted_no _hidden_no _flagged_no _perturbed_no _review_none _noted_no _day_2026_03_01 _month_2026_03 _year_2026');
INSERT INTO "search_news" VALUES(71,41,'_fooled_yes _verdict_incorrect _retracted_no _hidden_no');
CREATE TABLE search_postings (
	term VARCHAR(80) NOT NULL, 
	block INTEGER NOT NULL, 
	members BLOB NOT NULL, 
	CONSTRAINT pk_search_postings PRIMARY KEY (term, block)
);
INSERT INTO "search_postings" VALUES('~none',1,X'00');
CREATE TABLE secret_fingerprints (
	id INTEGER NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	noted_at DATETIME NOT NULL, 
	CONSTRAINT pk_secret_fingerprints PRIMARY KEY (id)
);
INSERT INTO "secret_fingerprints" VALUES(1,'9b039ca66115c54a2fd4b5ac6ae5519cc25455d394681187deff72c49902a105','2026-01-02 03:04:05.000000');
CREATE TABLE seed_predictions (
	seed_id INTEGER NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	answer JSON NOT NULL, 
	probabilities JSON, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_seed_predictions PRIMARY KEY (seed_id, model, version), 
	CONSTRAINT fk_seed_predictions_seed_id FOREIGN KEY(seed_id) REFERENCES seeds (id) ON DELETE CASCADE
);
INSERT INTO "seed_predictions" VALUES(1,'model of seed_predictions','version of seed_predictions','{}','null','2026-01-02 03:04:05.000000');
CREATE TABLE seeds (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	context_id INTEGER NOT NULL, 
	input JSON NOT NULL, 
	answer JSON, 
	made_from INTEGER, 
	tag VARCHAR(100) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	draw INTEGER NOT NULL, 
	used INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_seeds PRIMARY KEY (id), 
	CONSTRAINT fk_seeds_context_id FOREIGN KEY(context_id) REFERENCES contexts (id), 
	CONSTRAINT fk_seeds_made_from FOREIGN KEY(made_from) REFERENCES examples (id), 
	CONSTRAINT fk_seeds_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT uq_seeds_task_id_digest UNIQUE (task_id, digest)
);
INSERT INTO "seeds" VALUES(1,'nli',18,'{}','null',1,'','digest of seeds',1,0,'2026-01-02 03:04:05.000000');
CREATE TABLE sessions (
	digest VARCHAR(64) NOT NULL, 
	person_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_sessions PRIMARY KEY (digest), 
	CONSTRAINT fk_sessions_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "sessions" VALUES('47cdde9c412036e3165fe9ccdad19920755276d698390ec17bfc8fd3d3f20d0a',1,'2026-11-25 16:45:43.237412','2026-12-25 16:45:43.236711');
INSERT INTO "sessions" VALUES('119adb4873b1afeafeaa73dcad126da00312f27aa391ef3d1e88516c65d64856',2,'2026-11-25 16:45:43.279297','2026-12-25 16:45:43.278993');
CREATE TABLE shards (
	evaluation_id INTEGER NOT NULL, 
	part VARCHAR(10) NOT NULL, 
	number INTEGER NOT NULL, 
	first INTEGER NOT NULL, 
	rows INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	seconds DOUBLE NOT NULL, 
	done_at DATETIME NOT NULL, 
	CONSTRAINT pk_shards PRIMARY KEY (evaluation_id, part, number), 
	CONSTRAINT fk_shards_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
);
INSERT INTO "shards" VALUES(1,'rows',0,0,20,'7834ec710038e8525cf7d24d6eacde7f2dd017664238de8a67128646918f40b7',1.0,'2026-11-25 16:45:45.647624');
INSERT INTO "shards" VALUES(1,'rows',1,20,20,'55dfd4a3ba653c4bf92c33c90d5094da7c321b6c5d0f8e46b51300dab4168e07',1.0,'2026-11-25 16:45:45.647631');
CREATE TABLE sheets (
	id INTEGER NOT NULL, 
	handout_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	words JSON NOT NULL, 
	sides JSON NOT NULL, 
	"key" VARCHAR(100) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_sheets PRIMARY KEY (id), 
	CONSTRAINT fk_sheets_handout_id FOREIGN KEY(handout_id) REFERENCES handouts (id), 
	CONSTRAINT fk_sheets_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sheets_person_id_key UNIQUE (person_id, "key")
);
INSERT INTO "sheets" VALUES(1,1,2,'{}','{}','key of sheets','2026-01-02 03:04:05.000000');
CREATE TABLE skips (
	example_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_skips PRIMARY KEY (example_id, person_id), 
	CONSTRAINT fk_skips_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT fk_skips_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
INSERT INTO "skips" VALUES(1,2,'2026-01-02 03:04:05.000000');
CREATE TABLE snapshots (
	slug VARCHAR(40) NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	document JSON NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	person_id INTEGER, 
	made_at DATETIME NOT NULL, 
	CONSTRAINT pk_snapshots PRIMARY KEY (slug), 
	CONSTRAINT fk_snapshots_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_snapshots_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "snapshots" VALUES('nli-20261125-459e4771','nli','','{"task": "nli", "weights": {"metrics": {"accuracy": 4, "f1": 1, "fairness": 1, "robustness": 1, "throughput": 1, "memory": 1}, "datasets": {"films": 0, "first": 5, "second": 5, "small": 0, "third": 5}, "form": "guarded"}, "metrics": [{"name": "accuracy", "title": "Accuracy", "unit": "%", "better": "higher"}, {"name": "f1", "title": "F1", "unit": "%", "better": "higher"}, {"name": "fairness", "title": "Fairness", "unit": "%", "better": "higher"}, {"name": "robustness", "title": "Robustness", "unit": "%", "better": "higher"}, {"name": "throughput", "title": "Throughput", "unit": "examples/s", "better": "higher"}, {"name": "memory", "title": "Memory", "unit": "GiB", "better": "lower"}], "datasets": [{"name": "films", "title": "films", "version": 1, "digest": "953d6713480a8e47d5de9c509eac3c5283ad3e2f6a86fb3bd49c84c635eb46a9", "rows": 1, "visibility": "public"}, {"name": "first", "title": "First", "version": 1, "digest": "0000000000000000000000000000000000000000000000000000000000000001", "rows": 40, "visibility": "public"}, {"name": "second", "title": "Second", "version": 1, "digest": "0000000000000000000000000000000000000000000000000000000000000002", "rows": 40, "visibility": "public"}, {"name": "small", "title": "small", "version": 1, "digest": "ca7fbd0dcb2d7bebb7b57b4459ad38c074ed68067738aa0ed4692c0191aba398", "rows": 1, "visibility": "public"}, {"name": "third", "title": "Third", "version": 1, "digest": "0000000000000000000000000000000000000000000000000000000000000005", "rows": 40, "visibility": "public"}], "rows": [{"id": 1, "name": "model-0", "model": "model-0", "version": "0000000000000000", "kind": "installed", "anonymous": false, "submitted_at": "2026-11-25", "licence": "MIT", "languages": ["en"], "verified": false, "held": false, "rank": null, "unranked": "It has no f1; give this the weight 0 to rank it.", "score": {"value": null, "low": null, "high": null}, "metrics": {"accuracy": {"value": 86.25, "low": 77.5, "high": 93.75}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 90.0, "low": 83.71875, "high": 96.25}, "robustness": {"value": 93.75, "low": 88.75, "high": 98.75}, "throughput": {"value": 100.0, "low": 100.0, "high": 100.0}, "memory": {"value": 1.0, "low": 1.0, "high": 1.0}}, "datasets": {"films": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "first": {"accuracy": {"value": 87.5, "low": 75.0, "high": 97.5}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 90.0, "low": 80.0, "high": 97.5}, "robustness": {"value": 95.0, "low": 87.5, "high": 100.0}, "throughput": {"value": 100.0, "low": 100.0, "high": 100.0}, "memory": {"value": 1.0, "low": 1.0, "high": 1.0}}, "second": {"accuracy": {"value": 85.0, "low": 72.5, "high": 95.0}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 90.0, "low": 80.0, "high": 97.5}, "robustness": {"value": 92.5, "low": 82.5, "high": 100.0}, "throughput": {"value": 100.0, "low": 100.0, "high": 100.0}, "memory": {"value": 1.0, "low": 1.0, "high": 1.0}}, "small": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "third": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}}, "signatures": {}}, {"id": 4, "name": "model-0", "model": "model-0", "version": "0000000000000000", "kind": "installed", "anonymous": false, "submitted_at": "2026-11-25", "licence": "MIT", "languages": ["en"], "verified": false, "held": false, "rank": null, "unranked": "Not yet scored on First, Second.", "score": {"value": null, "low": null, "high": null}, "metrics": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "datasets": {"films": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "first": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "second": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "small": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "third": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}}, "signatures": {}}, {"id": 2, "name": "model-1", "model": "model-1", "version": "0000000000000001", "kind": "installed", "anonymous": false, "submitted_at": "2026-11-25", "licence": "MIT", "languages": ["en"], "verified": false, "held": false, "rank": null, "unranked": "It has no f1; give this the weight 0 to rank it.", "score": {"value": null, "low": null, "high": null}, "metrics": {"accuracy": {"value": 78.75, "low": 69.96875, "high": 87.5}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 82.5, "low": 73.75, "high": 90.0}, "robustness": {"value": 81.25, "low": 72.46875, "high": 88.78125}, "throughput": {"value": 90.0, "low": 90.0, "high": 90.0}, "memory": {"value": 2.0, "low": 2.0, "high": 2.0}}, "datasets": {"films": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "first": {"accuracy": {"value": 75.0, "low": 60.0, "high": 87.5}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 82.5, "low": 70.0, "high": 92.5}, "robustness": {"value": 85.0, "low": 72.5, "high": 95.0}, "throughput": {"value": 90.0, "low": 90.0, "high": 90.0}, "memory": {"value": 2.0, "low": 2.0, "high": 2.0}}, "second": {"accuracy": {"value": 82.5, "low": 70.0, "high": 92.5}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 82.5, "low": 70.0, "high": 92.5}, "robustness": {"value": 77.5, "low": 65.0, "high": 90.0}, "throughput": {"value": 90.0, "low": 90.0, "high": 90.0}, "memory": {"value": 2.0, "low": 2.0, "high": 2.0}}, "small": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "third": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}}, "signatures": {}}, {"id": 3, "name": "model-2", "model": "model-2", "version": "0000000000000002", "kind": "installed", "anonymous": false, "submitted_at": "2026-11-25", "licence": "MIT", "languages": ["en"], "verified": false, "held": false, "rank": null, "unranked": "It has no f1; give this the weight 0 to rank it.", "score": {"value": null, "low": null, "high": null}, "metrics": {"accuracy": {"value": 68.75, "low": 58.71875, "high": 78.75}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 71.25, "low": 61.25, "high": 81.25}, "robustness": {"value": 77.5, "low": 67.5, "high": 86.25}, "throughput": {"value": 80.0, "low": 80.0, "high": 80.0}, "memory": {"value": 3.0, "low": 3.0, "high": 3.0}}, "datasets": {"films": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "first": {"accuracy": {"value": 67.5, "low": 52.5, "high": 82.5}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 72.5, "low": 57.5, "high": 85.0625}, "robustness": {"value": 82.5, "low": 70.0, "high": 92.5}, "throughput": {"value": 80.0, "low": 80.0, "high": 80.0}, "memory": {"value": 3.0, "low": 3.0, "high": 3.0}}, "second": {"accuracy": {"value": 70.0, "low": 55.0, "high": 82.5}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": 70.0, "low": 55.0, "high": 85.0}, "robustness": {"value": 72.5, "low": 57.5, "high": 85.0}, "throughput": {"value": 80.0, "low": 80.0, "high": 80.0}, "memory": {"value": 3.0, "low": 3.0, "high": 3.0}}, "small": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}, "third": {"accuracy": {"value": null, "low": null, "high": null}, "f1": {"value": null, "low": null, "high": null}, "fairness": {"value": null, "low": null, "high": null}, "robustness": {"value": null, "low": null, "high": null}, "throughput": {"value": null, "low": null, "high": null}, "memory": {"value": null, "low": null, "high": null}}}, "signatures": {}}], "code": "0.1.0", "taken_at": "2026-11-25T16:45:44+00:00"}','6ce5ab8d7258218f2a1c8b2bcb478e0386f1e9035a730e4e05b2e4c18a9a3e8e',2,'2026-11-25 16:45:44.440553');
CREATE TABLE "standings" (
	example_id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	author_id INTEGER NOT NULL, 
	fooled BOOLEAN, 
	verdict VARCHAR(10) NOT NULL, 
	votes INTEGER NOT NULL, 
	retracted BOOLEAN NOT NULL, 
	open BOOLEAN NOT NULL, 
	draw INTEGER NOT NULL, 
	blind INTEGER NOT NULL, 
	blind_right INTEGER NOT NULL, 
	targets INTEGER NOT NULL, 
	targets_right INTEGER NOT NULL, 
	hidden BOOLEAN DEFAULT 0 NOT NULL, withheld BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_standings PRIMARY KEY (example_id), 
	CONSTRAINT fk_standings_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT fk_standings_author_id FOREIGN KEY(author_id) REFERENCES people (id), 
	CONSTRAINT fk_standings_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "standings" VALUES(1,1,2,1,'pending',0,0,1,1731344066,0,0,1,0,0,0);
INSERT INTO "standings" VALUES(40,4,20,0,'pending',0,0,0,2017460176,0,0,1,1,0,0);
INSERT INTO "standings" VALUES(41,4,20,1,'incorrect',2,0,0,1660749101,0,0,1,0,0,0);
CREATE TABLE submissions (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	kind VARCHAR(12) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	reference VARCHAR(500) NOT NULL, 
	source JSON NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	inside BOOLEAN NOT NULL, 
	card JSON NOT NULL, 
	readme TEXT NOT NULL, 
	visibility VARCHAR(10) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	code VARCHAR(30) NOT NULL, 
	reason TEXT NOT NULL, 
	report JSON NOT NULL, 
	log TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	job_id VARCHAR(36), 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	ready_at DATETIME, 
	withdrawn_at DATETIME, 
	CONSTRAINT pk_submissions PRIMARY KEY (id), 
	CONSTRAINT fk_submissions_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_submissions_task_id FOREIGN KEY(task_id) REFERENCES tasks (id)
);
INSERT INTO "submissions" VALUES(1,'nli','installed','model-0','','{}','model-0','0000000000000000',1,'{"languages": ["en"], "licence": "MIT", "size_bytes": 1}','','public','ready','','','{}','',1,NULL,NULL,'2026-11-25 16:45:37.498576',NULL,NULL);
INSERT INTO "submissions" VALUES(2,'nli','installed','model-1','','{}','model-1','0000000000000001',1,'{"languages": ["en"], "licence": "MIT", "size_bytes": 1}','','public','ready','','','{}','',1,NULL,NULL,'2026-11-25 16:45:37.548736',NULL,NULL);
CREATE TABLE suggestions (
	id INTEGER NOT NULL, 
	handout_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	asking INTEGER NOT NULL, 
	provider VARCHAR(40) NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	field VARCHAR(40) NOT NULL, 
	text VARCHAR NOT NULL, 
	about JSON NOT NULL, 
	latency_ms DOUBLE NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_suggestions PRIMARY KEY (id), 
	CONSTRAINT fk_suggestions_handout_id FOREIGN KEY(handout_id) REFERENCES handouts (id), 
	CONSTRAINT fk_suggestions_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "suggestions" VALUES(1,1,2,1,'provider of suggestions','','','field of suggestions','text of suggestions','{}',1.0,'2026-01-02 03:04:05.000000');
CREATE TABLE tallies (
	round_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	day VARCHAR(10) NOT NULL, 
	start VARCHAR(10) NOT NULL, 
	arm VARCHAR(40) NOT NULL, 
	source VARCHAR(10) NOT NULL, 
	examples INTEGER NOT NULL, 
	fooled INTEGER NOT NULL, 
	validated INTEGER NOT NULL, 
	resolved INTEGER NOT NULL, 
	retracted INTEGER NOT NULL, 
	hidden INTEGER NOT NULL, unknown INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_tallies PRIMARY KEY (round_id, person_id, day, start, arm, source), 
	CONSTRAINT fk_tallies_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_tallies_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "tallies" VALUES(1,2,'2026-11-25','blank','','person',1,1,0,0,0,0,0);
INSERT INTO "tallies" VALUES(4,11,'2026-03-01','blank','','person',4,3,2,3,0,0,0);
CREATE TABLE tally_news (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	told TEXT NOT NULL, 
	CONSTRAINT pk_tally_news PRIMARY KEY (id), 
	CONSTRAINT fk_tally_news_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "tally_news" VALUES(1,1,'[2,0,"2026-11-25","blank","","travel",1,1,0,0,0,0,0]');
INSERT INTO "tally_news" VALUES(2,4,'[11,0,"2026-03-01","blank","","c0",1,1,0,0,0,0,0]');
CREATE TABLE targets (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_targets PRIMARY KEY (id), 
	CONSTRAINT fk_targets_round_id FOREIGN KEY(round_id) REFERENCES rounds (id)
);
INSERT INTO "targets" VALUES(1,1,0,'nli-a','035b907a44a6c58f');
INSERT INTO "targets" VALUES(2,2,0,'sentiment-a','3009375b857fddd6');
INSERT INTO "targets" VALUES(3,4,0,'m','1');
CREATE TABLE task_versions (
	id INTEGER NOT NULL, 
	task_id VARCHAR(60) NOT NULL, 
	number INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_task_versions PRIMARY KEY (id), 
	CONSTRAINT fk_task_versions_created_by FOREIGN KEY(created_by) REFERENCES people (id), 
	CONSTRAINT fk_task_versions_task_id FOREIGN KEY(task_id) REFERENCES tasks (id), 
	CONSTRAINT uq_task_versions_task_id_number UNIQUE (task_id, number)
);
INSERT INTO "task_versions" VALUES(1,'sentiment',1,'id: sentiment
name: Sentiment
description: >-
  Does a statement speak well of something, badly, or neither? Irony, comparison and faint praise are easy for people
  and hard for models.

instructions:
  create: |
    Write a **statement** and say which sentiment it expresses, so that people agree with you and the model does not.
    You may begin with an empty field, with a sentence that you are free to edit or to write anew, or with one that the
    model reads rightly, to be changed as little as possible.

    - **Positive**: the writer likes it, or recommends it, or is glad.
    - **Negative**: the writer dislikes it, warns of it, or is let down.
    - **Neutral**: facts without a judgement, or praise and blame that balance.

    What tends to work: irony with a clue, praise of one thing that sinks another, expectations that were met or not,
    *could have been*, what somebody else thinks, good news told in bad words, one detail that turns everything.

    Play fair. It is about what the *writer* of the statement feels towards its subject. The clue must stand in the
    text: no inside jokes, no random letters, no sentiment that one has to guess. No hate against groups of people.
  validate: |
    How does the writer feel about what the statement is about? Choose what most readers would choose.

    - Irony counts as what it means, not as what it says.
    - Mixed feelings: choose the side that wins; if neither does, it is **neutral**.
    - **Flag** what is no statement, what is hateful, or what gives away a private person.

context:
  - {name: prompt, type: text, max_length: 500, language: en}

input:
  - name: statement
    type: text
    max_length: 500
    multiline: true
    language: en
    placeholder: One or two sentences, as somebody might post them

answer:
  name: label
  type: choice
  label: Which sentiment does it express?
  goal: chosen
  options:
    - {value: positive, label: positive, description: The writer speaks well of it.}
    - {value: neutral, label: neutral, description: "Facts, or praise and blame that balance."}
    - {value: negative, label: negative, description: The writer speaks badly of it.}

start: {kinds: [blank, prompt, seed], assign: random, prompt: {statement: prompt}}
output: {probabilities: true}
fooled: {rule: differs}

ask:
  - name: why_correct
    type: text
    label: Why is your label right?
    max_length: 500
    multiline: true
  - name: why_fooled
    type: text
    label: What tricked the model?
    max_length: 500
    multiline: true
    when: fooled
  - name: fooling_words
    type: spans
    label: Which words tricked it?
    of: statement
    when: fooled

validate:
  mode: answer
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: true
  ask:
    - name: reason
      type: text
      label: What is wrong with it?
      max_length: 500
      multiline: true
      when: [incorrect, flagged]

contexts: {sampling: least_used}
metrics: {primary: accuracy, report: [f1], costs: [throughput, memory], perturb: [fairness, robustness]}
data: {licence: CC-BY-4.0}
',NULL,'2026-11-25 16:45:36.725930');
INSERT INTO "task_versions" VALUES(2,'nli',1,'id: nli
name: Natural language inference
description: >-
  Given a premise, does a second sentence follow from it, contradict it, or neither? People settle this at a glance;
  models often lean on single words that happen to go with one answer.

instructions:
  create: |
    You see a **premise** and a **goal**. Write a **hypothesis** that stands in the goal''s relation to the premise,
    so that people agree with you and the model does not.

    - **Entailment**: whoever believes the premise must believe the hypothesis.
    - **Neutral**: it may be true or false; the premise leaves it open.
    - **Contradiction**: premise and hypothesis cannot both be true of the same situation.

    What tends to work: numbers and arithmetic, *before* and *after*, *only*, *almost*, *hardly* and *unless*, who did
    what to whom, a word in its second sense, what everybody knows about kitchens, calendars and gravity.

    Play fair. Assume that both sentences speak of the same people, place and time. No typing errors on purpose, no
    riddles, no knowledge that most adults lack, nothing about the sentence itself ("this sentence has five words").
    If a friend would have to guess the label, write another one.
  validate: |
    Read the premise as true, then ask what it says about the hypothesis.

    - **Correct**: the label that the author claims is the right one.
    - **Incorrect**: another label is right. Say which.
    - **Flag**: you cannot label it at all - it is no sentence, it is hateful, or it gives away a private person.

    Common sense counts: whoever sleeps is not running. Do not look for exotic ways in which a plain contradiction
    might still be true, and do not mind spelling.

context:
  - {name: premise, type: text, max_length: 1000, multiline: true, language: en}

input:
  - name: hypothesis
    type: text
    max_length: 500
    language: en
    placeholder: One sentence about the same situation

answer:
  name: label
  type: choice
  goal: assigned
  options:
    - {value: entailment, label: entailment, description: The premise makes it true.}
    - {value: neutral, label: neutral, description: The premise leaves it open.}
    - {value: contradiction, label: contradiction, description: The premise makes it false.}

start: {kinds: [blank], assign: random}
output: {probabilities: true}
fooled: {rule: differs}

ask:
  - name: why_correct
    type: text
    label: Why is your label right?
    max_length: 500
    multiline: true
  - name: why_fooled
    type: text
    label: What tricked the model?
    max_length: 500
    multiline: true
    when: fooled
  - name: fooling_words
    type: spans
    label: Which words tricked it?
    of: hypothesis
    when: fooled

validate:
  mode: judge
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: false
  ask:
    - {name: corrected_label, type: choice, label: "Which label is right?", when: incorrect}
    - name: reason
      type: text
      label: What is wrong with it?
      max_length: 500
      multiline: true
      when: [incorrect, flagged]

contexts: {sampling: least_used}
metrics: {primary: accuracy, report: [f1], costs: [throughput, memory], perturb: [fairness, robustness]}
data: {licence: CC-BY-4.0}
',NULL,'2026-11-25 16:45:36.816171');
INSERT INTO "task_versions" VALUES(13,'done',1,'id: done
name: Natural language inference
description: >-
  Given a premise, does a second sentence follow from it, contradict it, or neither? People settle this at a glance;
  models often lean on single words that happen to go with one answer.

instructions:
  create: |
    You see a **premise** and a **goal**. Write a **hypothesis** that stands in the goal''s relation to the premise,
    so that people agree with you and the model does not.

    - **Entailment**: whoever believes the premise must believe the hypothesis.
    - **Neutral**: it may be true or false; the premise leaves it open.
    - **Contradiction**: premise and hypothesis cannot both be true of the same situation.

    What tends to work: numbers and arithmetic, *before* and *after*, *only*, *almost*, *hardly* and *unless*, who did
    what to whom, a word in its second sense, what everybody knows about kitchens, calendars and gravity.

    Play fair. Assume that both sentences speak of the same people, place and time. No typing errors on purpose, no
    riddles, no knowledge that most adults lack, nothing about the sentence itself ("this sentence has five words").
    If a friend would have to guess the label, write another one.
  validate: |
    Read the premise as true, then ask what it says about the hypothesis.

    - **Correct**: the label that the author claims is the right one.
    - **Incorrect**: another label is right. Say which.
    - **Flag**: you cannot label it at all - it is no sentence, it is hateful, or it gives away a private person.

    Common sense counts: whoever sleeps is not running. Do not look for exotic ways in which a plain contradiction
    might still be true, and do not mind spelling.

context:
  - {name: premise, type: text, max_length: 1000, multiline: true, language: en}

input:
  - name: hypothesis
    type: text
    max_length: 500
    language: en
    placeholder: One sentence about the same situation

answer:
  name: label
  type: choice
  goal: assigned
  options:
    - {value: entailment, label: entailment, description: The premise makes it true.}
    - {value: neutral, label: neutral, description: The premise leaves it open.}
    - {value: contradiction, label: contradiction, description: The premise makes it false.}

start: {kinds: [blank], assign: random}
output: {probabilities: true}
fooled: {rule: differs}

ask:
  - name: why_correct
    type: text
    label: Why is your label right?
    max_length: 500
    multiline: true
  - name: why_fooled
    type: text
    label: What tricked the model?
    max_length: 500
    multiline: true
    when: fooled
  - name: fooling_words
    type: spans
    label: Which words tricked it?
    of: hypothesis
    when: fooled

validate:
  mode: judge
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: false
  ask:
    - {name: corrected_label, type: choice, label: "Which label is right?", when: incorrect}
    - name: reason
      type: text
      label: What is wrong with it?
      max_length: 500
      multiline: true
      when: [incorrect, flagged]

contexts: {sampling: least_used}
metrics: {primary: accuracy, report: [f1], costs: [throughput, memory], perturb: [fairness, robustness]}
data: {licence: CC-BY-4.0}
',NULL,'2026-11-25 16:45:43.963452');
INSERT INTO "task_versions" VALUES(14,'checks',1,'
id: checks
name: Checks
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text}]
answer: {name: label, type: choice, options: [entailment, neutral, contradiction]}
validate:
  mode: judge
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: false
  ask: [{name: corrected, type: choice, options: [entailment, neutral, contradiction], when: incorrect}]
',NULL,'2026-11-25 16:45:46.152025');
CREATE TABLE tasks (
	id VARCHAR(60) NOT NULL, 
	version_id INTEGER, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_tasks PRIMARY KEY (id)
);
INSERT INTO "tasks" VALUES('nli',2,'2026-11-25 16:45:36.815849');
INSERT INTO "tasks" VALUES('checks',14,'2026-11-25 16:45:46.151287');
INSERT INTO "tasks" VALUES('done',13,'2026-11-25 16:45:43.942030');
INSERT INTO "tasks" VALUES('sentiment',1,'2026-11-25 16:45:36.017153');
CREATE TABLE tokens (
	id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	prefix VARCHAR(12) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME, 
	revoked_at DATETIME, scopes JSON DEFAULT '["read", "annotate", "manage", "account"]' NOT NULL, 
	CONSTRAINT pk_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_tokens_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE, 
	CONSTRAINT uq_tokens_digest UNIQUE (digest)
);
INSERT INTO "tokens" VALUES(1,1,'API','dyna_sje1hm7','057c4cc0a0bb7e132cee56864f7b9a253c061b305292d05b1b3ad39755096bd0','2026-11-25 16:45:33.155584',NULL,NULL,'["read", "annotate", "manage", "account"]');
INSERT INTO "tokens" VALUES(2,2,'API','dyna_kkTtHRy','7ea953baf8e9387eb63f39edbd2b9d8dc79de5db7a5cd52ed18b3fcbeac7a37a','2026-11-25 16:45:33.179524','2026-11-25 16:45:43.505548',NULL,'["read", "annotate", "manage", "account"]');
CREATE TABLE twins (
	id INTEGER NOT NULL, 
	version_id INTEGER NOT NULL, 
	axis VARCHAR(12) NOT NULL, 
	origin VARCHAR(10) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	seed INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	rows INTEGER NOT NULL, 
	transformations JSON NOT NULL, 
	reason TEXT NOT NULL, 
	job_id VARCHAR(36), 
	created_at DATETIME NOT NULL, 
	replaced_at DATETIME, 
	CONSTRAINT pk_twins PRIMARY KEY (id), 
	CONSTRAINT fk_twins_version_id FOREIGN KEY(version_id) REFERENCES dataset_versions (id)
);
INSERT INTO "twins" VALUES(1,3,'fairness','generated','ready',0,'02680f3fd30fbb45034ee9ece36d4d67356b3e38ec726c3f6cb6a62e666b781f',1,'{"upper_case": 1}','',NULL,'2026-11-25 16:45:43.620037',NULL);
INSERT INTO "twins" VALUES(2,3,'robustness','generated','ready',0,'02680f3fd30fbb45034ee9ece36d4d67356b3e38ec726c3f6cb6a62e666b781f',1,'{"upper_case": 1}','',NULL,'2026-11-25 16:45:43.620040',NULL);
CREATE TABLE undos (
	validation_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_undos PRIMARY KEY (validation_id), 
	CONSTRAINT fk_undos_validation_id FOREIGN KEY(validation_id) REFERENCES validations (id)
);
INSERT INTO "undos" VALUES(59,'2026-01-02 03:04:05.000000');
CREATE TABLE uploaded_bytes (
	person_id INTEGER NOT NULL, 
	size BIGINT NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_uploaded_bytes PRIMARY KEY (person_id), 
	CONSTRAINT fk_uploaded_bytes_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
INSERT INTO "uploaded_bytes" VALUES(2,1,'2026-01-02 03:04:05.000000');
CREATE TABLE validations (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	vote VARCHAR(10) NOT NULL, 
	blind_answer JSON, 
	by_owner BOOLEAN NOT NULL, 
	"values" JSON NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_validations PRIMARY KEY (id), 
	CONSTRAINT fk_validations_example_id FOREIGN KEY(example_id) REFERENCES examples (id), 
	CONSTRAINT fk_validations_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
INSERT INTO "validations" VALUES(59,41,9,'incorrect','null',0,'{}','2026-11-25 16:45:49.598686');
INSERT INTO "validations" VALUES(60,41,10,'incorrect','null',0,'{}','2026-11-25 16:45:49.642527');
CREATE TABLE verdict_events (
	id INTEGER NOT NULL, 
	example_id INTEGER NOT NULL, 
	verdict VARCHAR(10) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_verdict_events PRIMARY KEY (id), 
	CONSTRAINT fk_verdict_events_example_id FOREIGN KEY(example_id) REFERENCES examples (id)
);
INSERT INTO "verdict_events" VALUES(30,41,'incorrect','2026-11-25 16:45:49.648350');
CREATE TABLE webhook_deliveries (
	id INTEGER NOT NULL, 
	hook_id INTEGER NOT NULL, 
	event VARCHAR(40) NOT NULL, 
	message VARCHAR(40) NOT NULL, 
	body TEXT NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	tries INTEGER NOT NULL, 
	job_id VARCHAR(36), 
	created_at DATETIME NOT NULL, 
	due_at DATETIME, 
	CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id), 
	CONSTRAINT fk_webhook_deliveries_hook_id FOREIGN KEY(hook_id) REFERENCES webhooks (id) ON DELETE CASCADE, 
	CONSTRAINT uq_webhook_deliveries_message UNIQUE (message)
);
INSERT INTO "webhook_deliveries" VALUES(1,1,'event of webhook_deliveries','message of webhook_deliveries','body of webhook_deliveries','waiting',0,NULL,'2026-01-02 03:04:05.000000',NULL);
CREATE TABLE webhook_tries (
	id INTEGER NOT NULL, 
	delivery_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	status INTEGER, 
	ms INTEGER NOT NULL, 
	answer VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_webhook_tries PRIMARY KEY (id), 
	CONSTRAINT fk_webhook_tries_delivery_id FOREIGN KEY(delivery_id) REFERENCES webhook_deliveries (id) ON DELETE CASCADE
);
INSERT INTO "webhook_tries" VALUES(1,1,'2026-01-02 03:04:05.000000',NULL,1,'answer of webhook_tries');
CREATE TABLE webhooks (
	id INTEGER NOT NULL, 
	person_id INTEGER, 
	task_id VARCHAR(60), 
	url VARCHAR(500) NOT NULL, 
	events JSON NOT NULL, 
	salt VARCHAR(64) NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	failing_since DATETIME, 
	off_at DATETIME, 
	reason VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_webhooks PRIMARY KEY (id), 
	CONSTRAINT fk_webhooks_created_by FOREIGN KEY(created_by) REFERENCES people (id) ON DELETE SET NULL, 
	CONSTRAINT fk_webhooks_person_id FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE, 
	CONSTRAINT fk_webhooks_task_id FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE
);
INSERT INTO "webhooks" VALUES(1,2,'nli','url of webhooks','{}','salt of webhooks',2,'2026-01-02 03:04:05.000000',NULL,NULL,'');
CREATE INDEX ix_acts_at ON acts (at);
CREATE INDEX ix_jobs_unsent ON jobs (created_at) WHERE sent_at IS NULL;
CREATE INDEX ix_roles_person_id ON roles (person_id);
CREATE INDEX ix_sessions_person_id ON sessions (person_id);
CREATE INDEX ix_tokens_person_id ON tokens (person_id);
CREATE INDEX ix_handouts_person ON handouts (person_id, round_id, context_id, id);
CREATE INDEX ix_targets_round_id ON targets (round_id);
CREATE INDEX ix_explanations_example_id ON explanations (example_id);
CREATE INDEX ix_skips_person_id ON skips (person_id);
CREATE INDEX ix_validations_at ON validations (person_id, at);
CREATE INDEX ix_validations_example_id ON validations (example_id);
CREATE INDEX ix_validations_person ON validations (person_id, example_id);
CREATE INDEX ix_verdict_events_example_id ON verdict_events (example_id);
CREATE UNIQUE INDEX uq_people_email ON people (lower(email));
CREATE UNIQUE INDEX uq_people_pseudonym ON people (lower(pseudonym)) WHERE pseudonym <> '';
CREATE UNIQUE INDEX uq_people_username ON people (lower(username));
CREATE INDEX ix_seeds_context_id ON seeds (context_id);
CREATE INDEX ix_seeds_draw ON seeds (task_id, draw);
CREATE INDEX ix_seeds_used ON seeds (task_id, used, draw);
CREATE INDEX ix_bans_person_id ON bans (person_id);
CREATE INDEX ix_hidings_example_id ON hidings (example_id);
CREATE INDEX ix_invitations_task_id ON invitations (task_id);
CREATE INDEX ix_notices_person ON notices (person_id, seen_at);
CREATE INDEX ix_acts_task ON acts (task_id, id);
CREATE UNIQUE INDEX ix_people_imported_as ON people (imported_as);
CREATE INDEX ix_contexts_listed ON contexts (task_id, id);
CREATE INDEX ix_contexts_tag ON contexts (task_id, tag, id);
CREATE INDEX ix_tally_news_round_id ON tally_news (round_id);
CREATE INDEX ix_dismissals_example_id ON dismissals (example_id);
CREATE INDEX ix_model_listings_keeper_id ON model_listings (keeper_id);
CREATE INDEX ix_forks_task_id ON forks (task_id);
CREATE INDEX ix_reports_task_id ON reports (task_id);
CREATE INDEX ix_snapshots_task_id ON snapshots (task_id);
CREATE INDEX ix_submissions_person_id ON submissions (person_id);
CREATE INDEX ix_submissions_name ON submissions (name);
CREATE INDEX ix_submissions_task ON submissions (task_id, state);
CREATE INDEX ix_evaluations_state ON evaluations (state, created_at);
CREATE INDEX ix_evaluations_version_id ON evaluations (version_id);
CREATE INDEX ix_twins_version ON twins (version_id, axis);
CREATE INDEX ix_mailings_person_id ON mailings (person_id);
CREATE UNIQUE INDEX uq_mailings_gathering ON mailings (person_id) WHERE state = 'gathering';
CREATE INDEX ix_webhooks_person_id ON webhooks (person_id);
CREATE INDEX ix_webhooks_task_id ON webhooks (task_id);
CREATE INDEX ix_webhook_deliveries_created_at ON webhook_deliveries (created_at);
CREATE INDEX ix_webhook_deliveries_hook ON webhook_deliveries (hook_id, id);
CREATE INDEX ix_webhook_tries_delivery_id ON webhook_tries (delivery_id);
CREATE INDEX ix_notices_mailing_id ON notices (mailing_id);
CREATE INDEX ix_judgements_example_id ON judgements (example_id);
CREATE INDEX ix_judgements_prediction_id ON judgements (prediction_id);
CREATE UNIQUE INDEX ix_examples_uid ON examples (uid);
CREATE INDEX ix_examples_author ON examples (author_id, round_id, id);
CREATE INDEX ix_examples_context_id ON examples (context_id);
CREATE INDEX ix_examples_round ON examples (round_id, id);
CREATE INDEX ix_examples_handout_id ON examples (handout_id);
CREATE INDEX ix_predictions_example_id ON predictions (example_id);
CREATE INDEX ix_standings_queue ON standings (round_id, draw) WHERE open;
CREATE INDEX ix_standings_blind ON standings (round_id) WHERE blind > 0;
CREATE INDEX ix_conversations_handout ON conversations (handout_id, id);
CREATE INDEX ix_conversations_round ON conversations (round_id, id);
CREATE INDEX ix_conversations_person ON conversations (person_id);
CREATE INDEX ix_media_uploads_digest ON media_uploads (digest);
CREATE INDEX ix_media_uploads_person ON media_uploads (person_id, at);
CREATE INDEX ix_media_uploads_task ON media_uploads (task_id, digest);
CREATE INDEX ix_media_uses_digest ON media_uses (digest);
CREATE UNIQUE INDEX ix_media_uses_context ON media_uses (context_id, digest) WHERE context_id IS NOT NULL;
CREATE UNIQUE INDEX ix_media_uses_example ON media_uses (example_id, digest) WHERE example_id IS NOT NULL;
CREATE INDEX ix_invitations_round_id ON invitations (round_id);
CREATE INDEX ix_contexts_draw ON contexts (task_id, draw) WHERE retired_at IS NULL;
CREATE INDEX ix_contexts_used ON contexts (task_id, used, draw) WHERE retired_at IS NULL;
CREATE INDEX ix_contexts_fooled ON contexts (task_id, fooled, draw) WHERE retired_at IS NULL;
CREATE INDEX ix_contexts_doubt ON contexts (task_id, doubt, draw) WHERE retired_at IS NULL;
CREATE INDEX ix_contexts_clock ON contexts (task_id, clock) WHERE retired_at IS NULL;
CREATE INDEX ix_contexts_failed ON contexts (task_id, draw) WHERE retired_at IS NULL AND failed > 0 AND good = 0;
CREATE INDEX ix_contexts_retired ON contexts (task_id, id) WHERE retired_at IS NOT NULL;
CREATE INDEX ix_handouts_seen ON handouts (person_id, context_id);
CREATE INDEX ix_round_people_person_id ON round_people (person_id);
CREATE INDEX ix_round_contexts_context_id ON round_contexts (context_id);
CREATE INDEX ix_announcements_task ON announcements (task_id, until);
CREATE INDEX ix_bulk_acts_task ON bulk_acts (task_id, id);
CREATE INDEX ix_proposals_person_id ON proposals (person_id);
CREATE INDEX ix_proposals_state ON proposals (state, id);
CREATE INDEX ix_announcements_seen_person_id ON announcements_seen (person_id);
CREATE INDEX ix_notes_example_id ON notes (example_id);
CREATE INDEX ix_sheets_handout ON sheets (handout_id, id);
CREATE INDEX ix_acts_kind ON acts (task_id, kind, id);
CREATE INDEX ix_released_examples_round_id ON released_examples (round_id);
CREATE INDEX ix_releases_task_id ON releases (task_id);
CREATE INDEX ix_cycle_turns_round_id ON cycle_turns (round_id);
CREATE INDEX ix_cycle_turns_task ON cycle_turns (task_id, id);
CREATE INDEX ix_proposed_round ON proposed (round_id, name, version);
CREATE INDEX ix_suggestions_handout ON suggestions (handout_id, id);
CREATE INDEX ix_suggestions_person_id ON suggestions (person_id);
CREATE INDEX ix_reservations_person ON reservations (person_id, mode, expires_at);
COMMIT;
