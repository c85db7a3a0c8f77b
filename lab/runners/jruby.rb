# frozen_string_literal: true
# runtime: jruby
# name: JRuby
# compiles: yes
# starts: slowly
# command: jruby -J-Xms128m {runner} {adapter}
# command: java -Xms128m -jar {data}/jruby/jruby-complete.jar {runner} {adapter}
# environment: GEM_PATH={data}/jruby/gems{separator}{GEM_PATH}
# environment: REGAUGE_JARS={data}/jruby
# have: java -version
# have: mvn --version
# debian: default-jre-headless maven
# step: fetch the jar: mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.jruby:jruby-complete:9.4.15.0 -Dmdep.stripVersion=true -DoutputDirectory={data}/jruby
# step: fetch MessagePack for Java: mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.msgpack:msgpack-core:0.9.11 -Dmdep.stripVersion=true -DoutputDirectory={data}/jruby
# missing: java -jar {data}/jruby/jruby-complete.jar {runner} --missing {libraries}
# each: install a gem: java -jar {data}/jruby/jruby-complete.jar -S gem install --no-document --install-dir {data}/jruby/gems {library}

# Runs one Ruby contender for `regauge measure` in JRuby: the Ruby runner, with the JVM's clocks.
# Its adapters are the Ruby ones that name it (`# runtimes: ruby jruby`), and its own.

require "java"

# Figures that JRuby's Process and GC lack.
module Host
  MANAGEMENT = java.lang.management.ManagementFactory
  THREADS = MANAGEMENT.thread_mx_bean
  COLLECTORS = MANAGEMENT.garbage_collector_mx_beans.to_a

  def self.runtime
    "JRuby #{JRUBY_VERSION} (Ruby #{RUBY_VERSION}) on Java #{java.lang.System.get_property("java.version")}"
  end

  # Of this thread: that of the process counts in steps of 10 ms, more than a sample takes.
  def self.cpu_ns = THREADS.current_thread_cpu_time

  # The JVM counts milliseconds.
  def self.collector_ns = COLLECTORS.sum { |bean| [bean.collection_time, 0].max } * 1_000_000

  def self.collector = COLLECTORS.map(&:name).join(", ")
end

require_relative "ruby"
